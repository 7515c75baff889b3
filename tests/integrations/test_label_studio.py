"""The machine-learning backend with a running Label Studio: labels given there are learnt, and tasks are chosen here."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tellmore.data.project import Project
from tellmore.export.tools import label_config
from tellmore.questions import labels_in
from tellmore.store.state import State, load_state

pytest.importorskip("label_studio")
pytestmark = [pytest.mark.integrations, pytest.mark.timeout(900)]

TOKEN = "0123456789abcdef0123456789abcdef01234567"
NOT_THERE_YET = 5
"""Seconds after which a server that has not answered is asked again."""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def running(command: list[str], health: str, folder: Path, **environment: str) -> Iterator[None]:
    """A server, from when it answers at ``health``."""
    log = folder / f"{Path(command[2]).name}.log"
    with log.open("w") as said:
        process = subprocess.Popen(command, cwd=folder, env={**os.environ, **environment}, stdout=said, stderr=said)
        try:
            while not answers(health):
                assert process.poll() is None, log.read_text()
            yield
        finally:
            process.terminate()
            process.wait()


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=NOT_THERE_YET):
            return True
    except OSError:
        return False


Ask = Callable[..., Any]


@pytest.fixture
def studio(tmp_path: Path, project: Project) -> Iterator[tuple[Ask, str]]:
    """How to ask Label Studio something, and the address of the backend."""
    here, there = free_port(), free_port()
    account = ["--username", "ann@example.org", "--password", "of-no-use", "--user-token", TOKEN]
    options = [
        "--no-browser",
        "--data-dir",
        str(tmp_path / "studio"),
        "--port",
        str(there),
        "--internal-host",
        "127.0.0.1",
    ]
    command = [sys.executable, "-m", "label_studio.server", "start", *account, *options, "--enable-legacy-api-token"]
    backend = [sys.executable, "-m", "tellmore", "label-studio", str(project.folder), "--port", str(here)]
    with ExitStack() as stack:
        stack.enter_context(running(backend, f"http://127.0.0.1:{here}/health", tmp_path))
        quiet = {
            "collect_analytics": "0",
            "LATEST_VERSION_CHECK": "0",
            "ML_BLOCK_LOCAL_IP": "0",
            "SSRF_PROTECTION_ENABLED": "0",
        }
        stack.enter_context(running(command, f"http://127.0.0.1:{there}/health", tmp_path, **quiet))

        def ask(method: str, path: str, body: Any = None) -> Any:
            headers = {"Authorization": f"Token {TOKEN}", "Content-Type": "application/json"}
            content = None if body is None else json.dumps(body).encode()
            request = urllib.request.Request(f"http://127.0.0.1:{there}/api/{path}", content, headers, method=method)
            with urllib.request.urlopen(request) as reply:
                return json.loads(reply.read() or b"null")

        yield ask, f"http://127.0.0.1:{here}"


def test_labels_there_are_learnt_here_and_the_most_telling_task_comes_next(
    studio: tuple[Ask, str], project: Project, state: State
) -> None:
    ask, backend = studio
    settings = {"title": "kind or not", "label_config": label_config(state), "sampling": "Uncertainty sampling"}
    made = ask("POST", "projects/", settings | {"show_collab_predictions": True})["id"]
    assert ask("POST", "ml/", {"url": backend, "project": made, "title": "tellmore"})["state"] == "CO"
    tasks = [{"data": {"id": item, "text": text}} for item, text in zip(state.pool.ids, state.pool.text, strict=True)]
    ask("POST", f"projects/{made}/import", tasks)

    everything = {
        "selectedItems": {"all": True, "excluded": []},
        "ordering": [],
        "filters": {"conjunction": "and", "items": []},
    }
    ask("POST", f"dm/actions?id=retrieve_tasks_predictions&project={made}", everything | {"project": made})
    found = ask("GET", f"tasks/?project={made}&fields=all&page_size=100")["tasks"]
    scores = {task["data"]["id"]: task["predictions"][0]["score"] for task in found}
    assert set(scores) == set(state.pool.ids)
    said = {task["data"]["id"]: task["predictions"][0]["result"][0]["value"]["choices"] for task in found}
    likely = dict(zip(state.pool.ids, state.learner.probabilities(), strict=True))
    assert said == {item: ["kind" if likely[item] >= 0.5 else "not kind"] for item in likely}

    ask("PATCH", f"projects/{made}/", {"model_version": found[0]["predictions"][0]["model_version"]})
    following = ask("GET", f"projects/{made}/next")
    assert following["data"]["id"] == min(scores, key=lambda item: scores[item])

    result = [{"from_name": "label", "to_name": "item", "type": "choices", "value": {"choices": ["kind"]}}]
    before = len(load_state(project).learner.history)
    labelled = ask("POST", f"tasks/{following['id']}/annotations/", {"result": result})
    question, answer = load_state(project).learner.history[before]
    assert labels_in(question, answer) == {following["data"]["id"]: True}

    result[0]["value"] = {"choices": ["not kind"]}
    ask("PATCH", f"annotations/{labelled['id']}/", {"result": result})
    question, answer = load_state(project).learner.history[before]
    assert labels_in(question, answer) == {following["data"]["id"]: False}

    ask("DELETE", f"annotations/{labelled['id']}/")
    assert len(load_state(project).learner.history) == before
