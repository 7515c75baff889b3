from __future__ import annotations

import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from tellmore.data.embed import embed_all, open_embedder
from tellmore.data.embedder import EmbedItem
from tellmore.errors import DataFileError, SettingError, StateError

ITEMS = [EmbedItem(f"i{n}", text="x" * n) for n in range(5)]

HEAD = "import json, sys\n"
GOOD = HEAD + "for line in sys.stdin:\n    item = json.loads(line)\n    print([len(item['text']), 1])\n"


def command(tmp_path: Path, program: str) -> str:
    (tmp_path / "mine.py").write_text(program)
    return f"exec:{shlex.quote(sys.executable)} {shlex.quote(str(tmp_path / 'mine.py'))}"


def run(tmp_path: Path, program: str, items=ITEMS) -> np.ndarray:
    return np.stack(list(open_embedder(command(tmp_path, program), "text").embed(items)))


def test_one_line_in_one_vector_out(tmp_path: Path):
    assert run(tmp_path, GOOD).tolist() == [[n, 1] for n in range(5)]


def test_a_command_that_reads_everything_first(tmp_path: Path):
    program = HEAD + (
        "items = [json.loads(line) for line in sys.stdin]\n"
        "for item in items: print(json.dumps({'id': item['id'], 'vector': [len(item['text'])]}))\n"
    )
    many = [EmbedItem(f"i{n}", text="ü" * 500) for n in range(2000)]
    assert run(tmp_path, program, many).shape == (2000, 1)


def test_pictures_are_given_by_path(tmp_path: Path):
    program = HEAD + "for line in sys.stdin: print([len(json.loads(line)['image'])])\n"
    assert run(tmp_path, program, [EmbedItem("a", image=Path("/x/y.png"))]).tolist() == [[8]]


def test_no_shell_sees_the_command(tmp_path: Path):
    program = HEAD + "for line in sys.stdin: print([len(sys.argv), 7])\n"
    spec = command(tmp_path, program) + f" ; touch {tmp_path}/hacked $(touch {tmp_path}/hacked)"
    assert next(open_embedder(spec, "text").embed(ITEMS)).tolist()[1] == 7
    assert not (tmp_path / "hacked").exists()


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("print('hello')\n", "not a JSON vector for item 'i0': 'hello'"),
        ("print('[1, \"a\"]')\n", "not a JSON vector"),
        ("print('{\"v\": [1]}')\n", "not a JSON vector"),
        ('print(\'{"id": "i3", "vector": [1]}\')\n', "it answered 'i3' when 'i0' was next"),
        ("print('[1]')\n", "it printed 1 vectors for 5 items"),
        ("for n in range(9): print('[1]')\n", "more lines than the 5 items"),
    ],
)
def test_wrong_output(tmp_path: Path, program, said, one_line):
    with pytest.raises(DataFileError) as raised:
        run(tmp_path, program)
    assert said in one_line(raised.value)


def test_a_command_that_does_not_exist():
    with pytest.raises(SettingError, match="cannot be started"):
        list(open_embedder("exec:/no/such/command", "text").embed(ITEMS))
    with pytest.raises(SettingError, match="cannot be split"):
        list(open_embedder("exec:echo 'a", "text").embed(ITEMS))


def test_after_a_failure_the_same_command_goes_on(tmp_path: Path):
    failing = HEAD + (
        "for n, line in enumerate(sys.stdin):\n"
        "    if n == 3: sys.exit(9)\n"
        "    print([len(json.loads(line)['text'])], flush=True)\n"
    )
    spec = command(tmp_path, failing)
    with pytest.raises(StateError, match="exit code 9 after 3 of 5 items; run the same command again"):
        embed_all(open_embedder(spec, "text"), ITEMS, tmp_path / "cache", key="k")
    X = embed_all(open_embedder(spec, "text"), ITEMS, tmp_path / "cache", key="k")
    assert X[:, 0].tolist() == [0, 1, 2, 3, 4]


def test_a_command_that_fails_before_its_first_vector_leaves_nothing(tmp_path: Path):
    embedder = open_embedder(command(tmp_path, HEAD + "sys.exit(3)\n"), "text")
    with pytest.raises(StateError, match="exit code 3 after 0 of 5 items"):
        embed_all(embedder, ITEMS, tmp_path / "cache", key="k")
    assert not (tmp_path / "cache").exists()


def test_a_command_that_is_stopped_does_not_complain(tmp_path: Path, capfd):
    embedder = open_embedder(command(tmp_path, HEAD + "while True: print([1, 2], flush=True)\n"), "text")
    with pytest.raises(DataFileError, match="more lines than the 5 items"):
        list(embedder.embed(ITEMS))
    assert capfd.readouterr().err == ""
