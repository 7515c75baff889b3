"""Several servers of one project: one responds, another takes over when it is killed, and nothing is lost."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tellmore.app.standby import claim_when_free
from tellmore.client import Client, Link
from tellmore.data.project import open_project
from tellmore.store.repository import LISTENS, Repository
from tests.app.serving import Server, free_port, small_project
from tests.store.databases import fresh_url


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    yield from fresh_url("postgres", tmp_path)


def status(port: int, path: str = "/health") -> int:
    """The status; 0 if no server listens."""
    try:
        with Client(Link("127.0.0.1", port, "")) as client:
            return client.read("GET", path)[0]
    except OSError:
        return 0


def until_status(port: int, wanted: int) -> None:
    deadline = time.monotonic() + 60
    while status(port) != wanted:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def answers_in(client: Client) -> int:
    log = client.read("GET", "/api/export/jsonl")[1]
    return [json.loads(line)["kind"] for line in log.splitlines()].count("answer")


@pytest.mark.postgres
def test_another_server_takes_over_when_the_first_is_killed(tmp_path: Path, url: str) -> None:
    project = small_project(tmp_path / "project", url)
    first, second = Server(project, free_port()), Server(project, free_port(), "--standby")
    try:
        link = first.start()
        second.begin()
        until_status(second.port, 200)  # from the first, to which the second passes everything on
        there = Link(link.host, second.port, link.token)
        with Client(there) as client:
            asked = client.patiently("GET", "/api/question")[1]["question"]
            order = [item["id"] for item in asked["items"]]
            answer = {"type": "rank", "order": order, "n_positive": 1}
            body = {"question_id": asked["id"], "answer": answer, "timing": None}
            assert client.patiently("POST", "/api/answers", body)[0] == 200
            assert answers_in(client) == 1
        with Client(link) as client:
            assert answers_in(client) == 1
        first.end(signal.SIGKILL)
        second.wait()
        until_status(second.port, 200)
        with Client(there) as client:  # the old link is good here too
            assert client.patiently("POST", "/api/answers", body)[0] == 200  # sent again: it is there already
            assert answers_in(client) == 1
        assert any("Standing by" in line for line in second.said)
    finally:
        for server in (first, second):
            if server.process is not None and server.process.poll() is None:
                server.end(signal.SIGKILL)


def test_who_stands_by_says_so_and_goes_on_when_the_other_ends(tmp_path: Path) -> None:
    address, port, said = f"sqlite:///{tmp_path}/log", free_port(), []
    first, second = Repository(address), Repository(address)
    first.claim()
    waiting = threading.Thread(target=claim_when_free, args=(second, "127.0.0.1", port, said.append))
    waiting.start()
    until_status(port, 503)
    with Client(Link("127.0.0.1", port)) as client:
        told = client.call("POST", "/api/answers", {"question_id": "any"})
    assert told == (
        503,
        {"error": "another server answers for this project now; try again in a moment", "status": "standing by"},
    )
    first.close()
    waiting.join(60)
    assert not waiting.is_alive()
    assert status(port) == 0
    second.keep_claim()  # the second has it now
    second.close()
    assert said == ["Standing by: another server has the project, and this one takes over when that ends."]


def test_who_finds_the_project_free_does_not_wait(tmp_path: Path) -> None:
    store = Repository(f"sqlite:///{tmp_path}/log")
    claim_when_free(store, "127.0.0.1", 1, pytest.fail)
    store.close()


def test_whole_replies_are_passed_on_to_many_and_nothing_in_a_circle(tmp_path: Path) -> None:
    project = small_project(tmp_path / "project")
    first, second, port = Server(project, free_port()), Repository(open_project(project).database_url), free_port()
    waiting = threading.Thread(target=claim_when_free, args=(second, "127.0.0.1", port, lambda _: None))
    try:
        link = first.start()
        waiting.start()
        until_status(port, 200)
        with ExitStack() as stack:
            people = [stack.enter_context(Client(Link(link.host, port, link.token))) for _ in range(20)]
            direct = stack.enter_context(Client(link)).read("GET", "/api/items?limit=100")[1]
            page = people[0].read("GET", "/dashboard")
            assert page[0] == 200
            assert len(page[1]) > 100
            assert direct.count(b"probability") >= 100
            assert all(one.read("GET", "/api/items?limit=100")[1] == direct for one in people)
        second.put(LISTENS, f"http://127.0.0.1:{port}")  # as if this one had the project, which is not so
        until_status(port, 503)
    finally:
        first.end(signal.SIGTERM, 60.0)
        waiting.join(60)
        second.close()
    assert not waiting.is_alive()
