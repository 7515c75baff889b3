"""The task pages, done literally: every console command of a page in order, from the user's files to the classifier.

Only the models are tiny ones made here, under the names the pages use, and the answers in the browser are given by
``tellmore annotate``, which speaks the browser's protocol.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

pytestmark = pytest.mark.docs

BLOCK = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
DOCS = Path(__file__).resolve().parents[2] / "docs"
ENVIRONMENT = {**os.environ, "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1"}
ENVIRONMENT["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def files_and_commands(page: str) -> tuple[dict[str, str], list[str]]:
    files, commands = {}, []
    for block in BLOCK.finditer((DOCS / page).read_text(encoding="utf-8")):
        named = re.search(r"\bfile=(\S+)", block["info"])
        if named:
            files[named.group(1)] = block["body"]
        if block["info"].startswith("console"):
            lines = [line[2:] for line in block["body"].splitlines() if line.startswith("$ ")]
            commands += [re.sub(r"\s+#\s.*$", "", line) for line in lines]
    return files, commands


def run(command: str, folder: Path) -> str:
    done = subprocess.run(
        shlex.split(command), cwd=folder, env=ENVIRONMENT, text=True, capture_output=True, timeout=240, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@contextmanager
def serving(command: str, folder: Path) -> Iterator[str]:
    """The server that ``command`` starts, as the address it prints."""
    words = [*shlex.split(command), "--no-browser", "--port", "0"]
    with subprocess.Popen(words, cwd=folder, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            printed = next(found for line in process.stdout if (found := re.search(r"http://\S+token=\S+", line)))
            yield printed.group()
        finally:
            process.terminate()


def follow(page: str, folder: Path, answers: int) -> list[str]:
    """Do what the page says; returns the commands that were run."""
    files, commands = files_and_commands(page)
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    do(commands, folder, answers)
    return commands


def do(commands: list[str], folder: Path, answers: int) -> None:
    """Run commands in order; while one serves, answer some questions."""
    for command in commands:
        if command.startswith("tellmore serve"):
            with serving(command, folder) as address:
                run(f"tellmore annotate {shlex.quote(address)} --answers {answers} --no-think", folder)
        else:
            run(command, folder)


def test_from_texts_to_a_classifier(tmp_path: Path, static_model: Path):
    static_model.rename(tmp_path / "potion-base-8M")
    np.savez(
        tmp_path / "vectors.npz",
        ids=[f"r{n:02}" for n in range(1, 13)],
        X=np.random.default_rng(0).normal(size=(12, 8)),
    )
    commands = follow("your-data.md", tmp_path, answers=5)
    assert sum(command.startswith("tellmore") for command in commands) >= 9
    session = onnxruntime.InferenceSession(tmp_path / "classifier.onnx")
    probability = session.run(["probability"], {"embedding": np.ones((3, 5), dtype=np.float32)})[0]
    assert ((probability > 0) & (probability < 1)).all()
    assert len((tmp_path / "scores.csv").read_text().splitlines()) == 13


def test_the_readme_alone_is_enough(tmp_path: Path, static_model: Path):
    """The three commands of the README; a model's public name is here a folder of that name."""
    (tmp_path / "minishlab").mkdir()
    static_model.rename(tmp_path / "minishlab" / "potion-base-8M")
    files, _ = files_and_commands("your-data.md")
    (tmp_path / "items.csv").write_text(files["items.csv"], encoding="utf-8")
    commands = [each for each in files_and_commands("../README.md")[1] if each.startswith("tellmore")]
    assert [command.split()[1] for command in commands] == ["init", "serve", "export"]
    do(commands, tmp_path, answers=5)
    assert onnxruntime.InferenceSession(tmp_path / "classifier.onnx").get_inputs()[0].shape == ["N", 5]


def test_from_photographs_to_a_classifier(tmp_path: Path, pictures: Path, image_model: Path):
    image_model.rename(tmp_path / "encoder.onnx")
    commands = follow("photographs.md", tmp_path, answers=5)
    assert [command.split()[1] for command in commands] == ["init", "serve", "export", "export", "score"]
    assert onnxruntime.InferenceSession(tmp_path / "beautiful.onnx").get_inputs()[0].shape == ["N", 3]
    assert "data:image/jpeg;base64," in (tmp_path / "report.html").read_text()
    assert len((tmp_path / "scores.csv").read_text().splitlines()) == 9
