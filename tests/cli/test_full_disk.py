"""A disk that is really full: one megabyte, mounted so that only the commands under test see it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

MIB = 1 << 20
N = 1500

COMMANDS = """
import gc, io, json, os, shutil, sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tellmore import cli

def run(command):
    with redirect_stderr(io.StringIO()) as said, redirect_stdout(io.StringIO()):
        try:
            cli.main(command)
        except SystemExit as stopped:
            return stopped.code, said.getvalue()

def tried(command, fill, kept):
    gc.collect()  # what the failure before still maps takes room on the disk
    for old in Path("disk").iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    if kept:
        shutil.copytree(kept, "disk/p")
    Path("disk/fill").write_bytes(bytes(fill))
    before = set(os.listdir("disk"))
    code, said = run(command)
    left = sorted(set(os.listdir("disk")) - before)
    Path("disk/fill").unlink()
    status = run(["replay", "disk/p"])[0] if kept else 0
    return code, said, left, status

print(json.dumps([tried(*one) for one in json.load(sys.stdin)]))
"""


class Case(NamedTuple):
    """``command`` on a disk of which ``fill`` bytes are taken, with a copy of the project ``kept`` on it as p."""

    command: str
    said: str
    fill: int = 0
    kept: str | None = None


INIT = "init disk/p --attribute calm --items"
NO_SPACE = "No space left on device"
CASES = [
    Case(f"{INIT} items.csv --embeddings wide.npz", f"disk/p: the project could not be written: {NO_SPACE}"),
    Case(f"{INIT} pictures --embed exec:PYTHON|ones.py|9", f"disk/p: the project could not be written: {NO_SPACE}"),
    Case(f"{INIT} items.csv --embed exec:PYTHON|ones.py|300", f"the vectors could not be written: {NO_SPACE}"),
    # here the vectors fit once, but not together with the matrix that is made of them
    Case(f"{INIT} items.csv --embed exec:PYTHON|ones.py|110", f"disk/p: the project could not be written: {NO_SPACE}"),
    Case(f"{INIT} labelled.csv --embeddings narrow.npz", "full", fill=MIB - 90_000),
    Case("export small --out disk/c.npz", f"disk/c.npz: cannot be written: {NO_SPACE}", fill=MIB),
    Case("export small --out disk/c.csv", f"disk/c.csv: cannot be written: {NO_SPACE}", fill=MIB),
    Case("score small narrow.npz --out disk/s.parquet", f"disk/s.parquet: cannot be written: {NO_SPACE}", fill=MIB),
    Case("import disk/p many.jsonl", "the database could not write: database or disk is full", MIB - 320_000, "small"),
]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[Case, tuple[int, str, list[str], int]]:
    """Every case on its own disk; skipped if a process may not mount one, even for itself."""
    folder = tmp_path_factory.mktemp("full")
    write_inputs(folder)
    init = [
        "-m",
        "tellmore",
        "init",
        "small",
        "--items",
        "labelled.csv",
        "--embeddings",
        "narrow.npz",
        "--attribute",
        "calm",
    ]
    subprocess.run([sys.executable, *init], cwd=folder, check=True, capture_output=True)
    mount = "mount -t tmpfs -o size=1m tmpfs disk"
    private = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    try:
        tried = subprocess.run([*private, mount], cwd=folder, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("a disk cannot be mounted here: there is no unshare")
    if tried.returncode:
        pytest.skip(f"a disk cannot be mounted here: {tried.stderr.strip()}")
    # "|" stands for a space inside an argument
    words = [[word.replace("PYTHON", sys.executable).replace("|", " ") for word in c.command.split()] for c in CASES]
    given = json.dumps([(word, case.fill, case.kept) for word, case in zip(words, CASES, strict=True)])
    command = [*private, f'{mount} && exec "$0" -c "$1"', sys.executable, COMMANDS]
    done = subprocess.run(command, cwd=folder, input=given, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return dict(zip(CASES, json.loads(done.stdout), strict=True))


def write_inputs(folder: Path) -> None:
    """Items, labels, vectors, answers and pictures, each by itself too large for the disk if a case says so."""
    from PIL import Image

    rng = np.random.default_rng(0)
    ids = [f"i{row}" for row in range(N)]
    (folder / "disk").mkdir()
    (folder / "items.csv").write_text("id,text\n" + "".join(f"{name},t\n" for name in ids))
    (folder / "labelled.csv").write_text("id,text,label\n" + "".join(f"{name},t,positive\n" for name in ids[:40]))
    np.savez(folder / "wide.npz", ids=ids, X=rng.normal(size=(N, 300)))
    np.savez(folder / "narrow.npz", ids=ids[:40], X=rng.normal(size=(40, 3)))
    (folder / "ones.py").write_text(
        "import sys\nfor n, _ in enumerate(sys.stdin): print([n + 1.0] + [1.0] * int(sys.argv[1]))\n"
    )
    answer = {"kind": "rank", "items": ids[:4], "answer": {"type": "rank", "order": ids[:4], "n_positive": 2}}
    (folder / "many.jsonl").write_text(f"{json.dumps(answer)}\n" * 3000)
    (folder / "pictures").mkdir()
    for name in range(6):
        noise = rng.integers(0, 255, size=(600, 600, 3), dtype=np.uint8)
        Image.fromarray(noise).save(folder / "pictures" / f"{name}.png")


@pytest.mark.parametrize("case", CASES, ids=[f"{number}-{case.command[:6]}" for number, case in enumerate(CASES)])
def test_a_full_disk_is_one_line_and_leaves_nothing(outcomes, case: Case):
    code, said, left, replay = outcomes[case]
    assert code == 1
    assert said.count("\n") == 1, said
    assert case.said in said
    assert not left
    assert replay == 0
