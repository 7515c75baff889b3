"""The wheel alone, in an empty environment on a machine without Node, serves the demo."""

from __future__ import annotations

import http.cookiejar
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(repository)]
    done = subprocess.run(build, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(out.glob("tellmore-*.whl"))


@pytest.fixture(scope="module")
def environment(wheel: Path, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of a fresh environment with the wheel and its extra "app"."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=True)
    install = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(
        [*install, "-c", repository / "constraints.txt", f"{wheel}[app]"], text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    return folder / "bin"


@contextmanager
def running_demo(environment: Path, home: Path) -> Iterator[str]:
    """``tellmore demo`` on a free port with an empty home; yields the printed address; Ctrl-C must end it with exit code 0."""
    assert shutil.which("node", path=str(environment)) is None
    env = {"PATH": str(environment), "HOME": str(home), "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1"}
    command = [environment / "tellmore", "demo", "--no-browser", "--port", "0"]
    log = home / "demo.log"
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(command, cwd=home, env=env, stdout=output, stderr=subprocess.STDOUT)
    try:
        yield _printed_address(process, log)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 0, log.read_text(encoding="utf-8")
        assert "Traceback" not in log.read_text(encoding="utf-8")
    finally:
        process.kill()
        process.wait()


def _printed_address(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(r"http://\S+", log.read_text(encoding="utf-8")):
            return found.group()
        time.sleep(0.1)
    pytest.fail(f"no address was printed:\n{log.read_text(encoding='utf-8')}")


def browser() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))


def origin(address: str) -> str:
    return re.match(r"http://[^/?]+", address).group()  # type: ignore[union-attr]


def test_the_wheel_holds_the_client_the_words_and_the_licences(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {"tellmore/app/static/index.html", "tellmore/app/static/widget.js"} <= set(names)
    assert any(re.fullmatch(r"tellmore/app/static/assets/.*\.js", name) for name in names)
    assert "tellmore/data/words.npz" in names
    assert {f"tellmore/templates/{name}.html" for name in ("page", "project", "study", "exhibits")} <= set(names)
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert any(name.endswith("WORDS-LICENCES.md") for name in names)
    assert not [name for name in names if "node_modules" in name or name.startswith("tests")]


def test_the_demo_serves_a_question_and_resumes_it(environment: Path, tmp_path: Path) -> None:
    with running_demo(environment, tmp_path) as address:
        opener = browser()
        with opener.open(address, timeout=20) as response:
            page = response.read().decode()
        for asset in re.findall(r'(?:src|href)="(/?assets/[^"]+)"', page):
            with opener.open(f"{origin(address)}/{asset.lstrip('/')}", timeout=20) as response:
                assert response.status == 200
        assert "<script" in page
        first = _question(opener, address)
        assert len(first["items"]) >= 1
    with running_demo(environment, tmp_path) as address:
        opener = browser()
        opener.open(address, timeout=20).close()
        assert _question(opener, address)["id"] == first["id"]


def _question(opener: urllib.request.OpenerDirector, address: str) -> dict:
    with opener.open(f"{origin(address)}/api/question", timeout=30) as response:
        return json.load(response)["question"]


def test_what_an_extra_would_bring_is_named(environment: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [environment / "tellmore", "reproduce", "fig3", "--quick", "--out", "results"],
        cwd=tmp_path,
        env=os.environ | {"PATH": str(environment), "HOME": str(tmp_path)},
        text=True,
        capture_output=True,
    )
    assert done.returncode == 1
    assert "pip install 'tellmore[lab]'" in done.stderr
    assert done.stderr.count("\n") == 1
