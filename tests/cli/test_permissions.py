"""Folders and files that the system really denies: the commands run in a separate process, without root's privileges.

Root may read and write everything by two capabilities. A process that has given them up is denied like anyone else, yet
still finds its interpreter, which may lie in root's home.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

UNPRIVILEGED = """
import ctypes, os, sys
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2
if os.geteuid() == 0:
    prctl = ctypes.CDLL(None).prctl
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-c", *sys.argv[1:]])
"""

COMMANDS = """
import io, json, os, sys
from contextlib import redirect_stderr, redirect_stdout
from tellmore import cli

def run(folder, arguments):
    os.chdir(folder)
    with redirect_stderr(io.StringIO()) as said, redirect_stdout(io.StringIO()):
        try:
            cli.main(arguments)
        except SystemExit as stopped:
            return stopped.code, said.getvalue()

print(json.dumps([run(*one) for one in json.load(sys.stdin)]))
"""


class Case(NamedTuple):
    """``path`` gets ``mode``; then ``command`` fails and says ``said``."""

    path: str
    mode: int
    command: str
    said: str


class Outcome(NamedTuple):
    """What a command did: exit code, standard error, and the names that are new in its folder."""

    code: int
    said: str
    left: set[Path]


ITEMS = "--items items.csv --attribute calm"
INIT = f"{ITEMS} --embeddings emb.npz"
EMBED = "--attribute calm --embed exec:cat"


NOT_MADE = "locked: a project cannot be made there: Permission denied; choose"
NOT_READ = "cannot be read: Permission denied"
NOT_WRITTEN = "cannot be written: Permission denied"
CASES = [
    Case("locked", 0o555, f"init locked/q {INIT}", NOT_MADE),
    Case("locked", 0o000, f"init locked/q {INIT}", NOT_MADE),
    Case("locked", 0o000, f"init locked {INIT}", "a project cannot be made there: Permission denied; choose"),
    Case("items.csv", 0o000, f"init q {INIT}", f"items.csv: {NOT_READ}"),
    Case("emb.npz", 0o000, f"init q {INIT}", f"emb.npz: {NOT_READ}"),
    Case("ids.txt", 0o000, f"init q {ITEMS} --embeddings emb.npy --embedding-ids ids.txt", f"ids.txt: {NOT_READ}"),
    Case("pictures", 0o000, f"init q --items pictures {EMBED}", f"pictures: {NOT_READ}; allow"),
    Case("pictures/b", 0o000, f"init q --items pictures {EMBED}", f"pictures/b: {NOT_READ}; allow"),
    Case("pictures/b", 0o444, f"init q --items pictures {EMBED}", f"pictures/b: {NOT_READ}; allow"),
    Case("pictures/a/2.png", 0o000, f"init q --items pictures {EMBED}", f"pictures/a/2.png: {NOT_READ}"),
    Case(
        "pictures/b",
        0o000,
        f"init q --items pictures.csv {EMBED}",
        f"pictures.csv, row 3, column image: HERE/pictures/b/3.png {NOT_READ}",
    ),
    Case("p", 0o000, "status p", "Permission denied: p/tellmore.toml"),
    Case("p/tellmore.sqlite", 0o000, "status p", "p/tellmore.sqlite cannot be opened"),
    Case("p/embeddings.npy", 0o000, "status p", "p/embeddings.npy: "),
    Case("answers.jsonl", 0o000, "import p answers.jsonl", f"answers.jsonl: {NOT_READ}"),
    Case("locked", 0o555, "export p --out locked/c.npz", f"locked/c.npz: {NOT_WRITTEN}"),
    Case("locked", 0o000, "export p --out locked/c.npz", f"locked/c.npz: {NOT_WRITTEN}"),
    Case("locked", 0o000, "score p emb.npz --out locked/s.csv", f"locked/s.csv: {NOT_WRITTEN}"),
]


def unprivileged(script: str, given: str = "") -> str:
    """The output of the Python ``script``, run without root's privileges."""
    command = [sys.executable, "-c", UNPRIVILEGED, script]
    return subprocess.run(command, input=given, capture_output=True, text=True, timeout=240, check=True).stdout


def commands(runs: Sequence[tuple[Path, str]]) -> list[tuple[int, str]]:
    """Exit code and standard error of each command, run in its folder."""
    given = [(str(folder), command.split(" ")) for folder, command in runs]
    return [(code, said) for code, said in json.loads(unprivileged(COMMANDS, json.dumps(given)))]


def write_inputs(folder: Path) -> None:
    """Items, vectors, answers and pictures."""
    from PIL import Image

    rows = "".join(f"i{row},text {row},{'positive' if row % 2 else 'negative'}\n" for row in range(8))
    (folder / "items.csv").write_text("id,text,label\n" + rows)
    X = np.random.default_rng(0).normal(size=(8, 3))
    np.savez(folder / "emb.npz", ids=[f"i{row}" for row in range(8)], X=X)
    np.save(folder / "emb.npy", X)
    (folder / "ids.txt").write_text("\n".join(f"i{row}" for row in range(8)))
    (folder / "answers.jsonl").write_text('{"kind": "skip"}\n')
    for name in ("a/1.png", "a/2.png", "b/3.png"):
        picture = folder / "pictures" / name
        picture.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8)).save(picture)
    (folder / "pictures.csv").write_text("id,image\nx,pictures/a/1.png\ny,pictures/b/3.png\n")
    (folder / "locked").mkdir()


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[Case, Outcome]:
    """Every case in its own folder, all in one process; skipped if nothing can be denied."""
    probe = tmp_path_factory.mktemp("probe")
    probe.chmod(0o000)
    script = f"import os; print(os.access({str(probe)!r}, os.R_OK))"
    if "True" in unprivileged(script):
        pytest.skip("this system lets every process into a folder of mode 000")

    made = tmp_path_factory.mktemp("made")
    write_inputs(made)
    assert commands([(made, f"init p {INIT}")])[0][0] == 0
    folders = [made.with_name(f"case-{number}") for number in range(len(CASES))]
    for case, folder in zip(CASES, folders, strict=True):
        shutil.copytree(made, folder)
        (folder / case.path).chmod(case.mode)
    said = commands([(folder, case.command) for case, folder in zip(CASES, folders, strict=True)])
    for case, folder in zip(CASES, folders, strict=True):
        (folder / case.path).chmod(0o755)
    return {
        case: Outcome(code, text.replace(str(folder), "HERE"), files(folder) - files(made))
        for case, folder, (code, text) in zip(CASES, folders, said, strict=True)
    }


def files(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*")}


@pytest.mark.parametrize("case", CASES, ids=[f"{case.path}-{case.mode:o}-{case.command[:9]}" for case in CASES])
def test_what_the_system_denies_is_one_line_and_leaves_nothing(outcomes: dict[Case, Outcome], case: Case):
    outcome = outcomes[case]
    assert outcome.code == 1
    assert outcome.said.count("\n") == 1, outcome.said
    assert case.said in outcome.said
    assert not outcome.left
