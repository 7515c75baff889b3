"""Starting and stopping: the printed address, the port, Ctrl-C, the demo's folder, simulated people."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from starlette.requests import Request
from typer.testing import CliRunner

from tellmore import LabelAnswer, RankAnswer, SelectAnswer, TickAnswer
from tellmore.app import server as server_module
from tellmore.app.address import address_of, bind, checked_url, link_base, outward_address
from tellmore.app.demo import known_scores, open_demo
from tellmore.app.server import has_display
from tellmore.app.tokens import Tokens
from tellmore.cli import app as commands
from tellmore.client import Client, Link
from tellmore.errors import InputError, SettingError, StateError
from tellmore.sim.drive import Mind, Report, Shown, compare_with_log, drive, invite
from tellmore.store.repository import Repository
from tests.app.serving import Server, free_port, small_project


def test_a_taken_port_is_told_with_the_way_out() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(StateError, match=f"port {port} is taken.*--port {port + 1}"):
            bind("127.0.0.1", port)


def test_an_address_of_another_computer_is_refused() -> None:
    with pytest.raises(StateError, match="--host"):
        bind("192.0.2.1", 0)
    with pytest.raises(StateError, match="--host"):
        bind("no-such-host.invalid", 0)


def test_a_free_port_is_found() -> None:
    listener = bind("127.0.0.1", 0)
    assert listener.getsockname()[1] > 0
    listener.close()


def test_small_replies_are_sent_at_once() -> None:
    """Without TCP_NODELAY every reply in two pieces waits 40 ms for the other side's delayed ACK."""

    async def accepted_at_once() -> int:
        found: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def accept(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            found.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listener = bind("127.0.0.1", 0)
        async with await asyncio.start_server(accept, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            said = await found
            writer.close()
            await writer.wait_closed()
        return said

    assert asyncio.run(accepted_at_once())


@pytest.mark.parametrize(("host", "shown"), [("::1", "http://[::1]:8000"), ("a.b", "http://a.b:8000")])
def test_the_address_printed_can_be_opened(host: str, shown: str) -> None:
    assert address_of(host, 8000) == shown


def test_a_server_for_others_names_an_address_that_they_can_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tellmore.app.address.outward_address", lambda host: "192.168.7.5")
    assert address_of("0.0.0.0", 8000) == "http://192.168.7.5:8000"

    def asked(host: str) -> Request:
        return Request({"type": "http", "scheme": "http", "path": "/", "headers": [(b"host", host.encode())]})

    everywhere, here = link_base("", "0.0.0.0", 8000), link_base("", "127.0.0.1", 8000)
    assert everywhere(asked("127.0.0.1:8000")) == "http://192.168.7.5:8000", (
        "the owner's browser is on the same computer"
    )
    assert everywhere(asked("teach.local:8000")) == "http://teach.local:8000"
    assert here(asked("127.0.0.1:8000")) == "http://127.0.0.1:8000"
    assert link_base("https://teach.example.org", "127.0.0.1", 8000)(asked("127.0.0.1")) == "https://teach.example.org"


def test_a_computer_on_no_network_names_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: object) -> None:
        raise OSError("network is unreachable")

    monkeypatch.setattr("socket.socket.connect", unreachable)
    assert (outward_address("0.0.0.0"), outward_address("::")) == ("127.0.0.1", "::1")


@pytest.mark.parametrize("url", ["teach.example.org", "ftp://x", "https://x/path", "https://", "https://x?y=1"])
def test_a_public_address_is_scheme_and_host(url: str) -> None:
    with pytest.raises(SettingError, match=r"https://teach\.example\.org"):
        checked_url(url)


def test_a_display_decides_whether_a_browser_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert not has_display()
    monkeypatch.setenv("DISPLAY", ":0")
    assert has_display()


def test_a_server_teaches_people_and_stops_cleanly(tmp_path: Path) -> None:
    server = Server(small_project(tmp_path / "project"), free_port())
    link = server.start()
    report = compare_with_log(drive(invite(link, 4), answers=5, think=False), link)
    summary = report.summary()
    assert (summary["answers"], summary["lost"], summary["duplicated"], summary["faults"]) == (20, 0, 0, 0)
    assert summary["same_question_at_once"] == 0
    with Client(link) as client:
        status, board = client.call("GET", "/api/dashboard")
    assert status == 200
    assert len(board["annotators"]) == 4
    result = CliRunner().invoke(
        commands,
        [
            "annotate",
            f"http://127.0.0.1:{link.port}/?token={link.token}",
            "--answers",
            "2",
            "--no-think",
            "--json",
        ],
    )
    assert json.loads(result.output)["answers"] == 2
    assert server.end(signal.SIGINT) == 0
    assert server.said[-1] == "Stopped; every answer is saved."
    assert not any("Traceback" in line for line in server.said)


def test_a_second_server_is_refused_and_told_where_the_first_is(tmp_path: Path) -> None:
    folder = small_project(tmp_path / "project")
    first = Server(folder, free_port())
    link = first.start()
    second = subprocess.run(
        [sys.executable, "-m", "tellmore", "serve", str(folder), "--port", "0", "--no-browser"],
        check=False, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert second.returncode == 1
    [line] = second.stderr.splitlines()
    assert f"served already at http://127.0.0.1:{link.port}" in line
    assert f"kill {first.process.pid}" in line  # type: ignore[union-attr]
    assert CliRunner().invoke(commands, ["status", str(folder)]).exit_code == 0
    first.end(signal.SIGKILL)
    again = Server(folder, first.port)
    again.start()
    again.end(signal.SIGINT)


def test_a_server_whose_project_was_taken_over_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "LOOK_EVERY_S", 0.02)
    url = f"sqlite:///{tmp_path / 'log.sqlite'}"
    with closing(Repository(url)) as first, closing(Repository(url)) as second:
        first.claim()
        stopped = threading.Event()
        watch = server_module._Watch(SimpleNamespace(look_around=first.keep_claim), Tokens(first), stopped.set)
        assert not stopped.wait(0.1)
        (tmp_path / "log.sqlite.lock").unlink()
        second.claim()
        assert stopped.wait(20)
        watch.end()
        assert "another server has taken over this project" in str(watch.lost)


def test_a_link_from_the_command_line_works_at_a_running_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "LOOK_EVERY_S", 0.02)
    url = f"sqlite:///{tmp_path / 'log.sqlite'}"
    with closing(Repository(url)) as running, closing(Repository(url)) as other:
        tokens = Tokens(running)
        watch = server_module._Watch(SimpleNamespace(look_around=running.keep_claim), tokens, lambda: None)
        token, _ = Tokens(other).issue("annotator", "p-1", "Ann")
        deadline = time.monotonic() + 20
        while tokens.visitor(token) is None and time.monotonic() < deadline:
            time.sleep(0.01)
        assert tokens.visitor(token) is not None
        watch.end()


@pytest.mark.parametrize("old_option", [[], ["--simulated"]])
def test_annotating_needs_a_printed_address(old_option: list[str]) -> None:
    result = CliRunner().invoke(commands, ["annotate", "http://127.0.0.1:1/", *old_option])
    assert isinstance(result.exception, InputError)


def test_a_server_that_is_away_is_given_up_on() -> None:
    with pytest.raises(StateError, match="has not answered"):
        Client(Link("127.0.0.1", free_port(), "t")).patiently("GET", "/api/me", give_up_s=0.3)


def test_the_demo_is_made_once_and_continued(tmp_path: Path) -> None:
    first = open_demo(tmp_path / "demo")
    made = (first.folder / "tellmore.toml").stat().st_mtime_ns
    again = open_demo(tmp_path / "demo")
    assert (again.folder / "tellmore.toml").stat().st_mtime_ns == made
    assert again.pool.ids == first.pool.ids
    assert set(again.pool.ids) < set(known_scores())


def test_the_demo_lives_in_the_users_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert open_demo().folder == tmp_path / "tellmore" / "demo"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert open_demo().folder == tmp_path / ".local" / "share" / "tellmore" / "demo"


def test_simulated_people_answer_by_what_they_think() -> None:
    mind = Mind({"good": 50.0, "fair": 10.0, "bad": -50.0}, seed=1)
    assert mind.answer("label", ["bad"]) == LabelAnswer(False)
    assert mind.answer("rank", ["bad", "good", "fair"]) == RankAnswer(["good", "fair", "bad"], 2)
    assert mind.answer("select_low", ["bad", "good"]) == SelectAnswer("bad", False)
    assert mind.answer("select_high", ["bad", "good"]).chosen == "good"
    assert mind.answer("tick", ["bad", "good", "fair"]) == TickAnswer(["good", "fair"])
    assert Mind({}, 1).opinion("x") == pytest.approx(Mind({}, 2).opinion("x"), abs=3.0)


def test_the_same_question_at_once_is_noticed() -> None:
    one = Shown("q1", "rank", frozenset("ab"), 0.0, 2.0, person=0)
    same_later = Shown("q2", "rank", frozenset("ab"), 1.0, 3.0, person=1)
    after = Shown("q3", "rank", frozenset("ab"), 3.5, 4.0, person=0)
    other_kind = Shown("q4", "select_high", frozenset("ab"), 1.0, 3.0, person=2)
    assert Report(shown=[one, same_later, after, other_kind]).same_at_once() == 1
    assert Report(shown=[one, after]).same_at_once() == 0
