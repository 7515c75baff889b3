"""Data that is too old is deleted, and nothing else; the log records this."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from typer.testing import CliRunner

from tellmore.cli import app
from tellmore.data.project import open_project
from tellmore.kinds.label import LabelAnswer
from tellmore.questions import Question
from tellmore.store.events import answer_event, question_event
from tellmore.store.ledger import Ledger
from tellmore.store.repository import Event, Repository, TokenRow
from tellmore.store.retention import NOBODY, expire, expired
from tests.app.serving import small_project

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def past(event: Event, day: str) -> Event:
    return Event(event.kind, event.question_id, event.participant, event.payload, t_utc=f"{day}T00:00:00.000Z")


def fill(store: Repository) -> None:
    """Ann was last seen long ago, Bob answered then and recently, the owner was last seen long ago."""
    for who, day in (("ann", "2024-01-01"), ("bob", "2024-01-01"), ("boss", "2024-01-01"), ("bob", "2999-05-01")):
        role = "owner" if who == "boss" else "annotator"
        question = Question("label", ["i1"])
        events = [
            Event("participant", None, who, {"name": who.title(), "role": role}),
            question_event(question, who),
            answer_event(question.id, who, LabelAnswer(True)),
        ]
        store.append([past(event, day) for event in events])
    store.add_token(TokenRow("old", "h1", "annotator", "bob", "Bob", expires_utc="2024-03-01T00:00:00.000Z"))
    store.add_token(TokenRow("new", "h2", "annotator", "bob", "Bob", expires_utc="2999-03-01T00:00:00.000Z"))
    store.add_token(TokenRow("hers", "h3", "annotator", "ann", "Ann"))


def test_only_what_is_old_goes_and_the_log_says_so(tmp_path: Path) -> None:
    project = open_project(small_project(tmp_path / "project"))
    store = Repository(project.database_url)
    fill(store)
    found = expired(store, 365, NOW)
    assert set(found.participants) == {"ann"}
    assert found.links == ("old",)
    expire(store, found, 365)
    assert [token.id for token in store.tokens()] == ["new"]
    ledger = Ledger(project.settings, store.since())
    assert {asked.participant for asked, _ in ledger.counting()} == {"bob", "boss"}
    assert "ann" not in ledger.names
    assert all(event.erased for event in store.since() if event.participant == "ann")
    (note,) = store.since(kinds=["delete"])
    assert note.payload["participant"] == "ann"
    assert "kept for 365 days" in note.payload["reason"]
    assert expired(store, 365, NOW).participants == {}  # nobody is deleted twice
    store.close()


def test_answers_of_nobody_are_kept_and_those_of_people_in_imported_files_are_not(tmp_path: Path) -> None:
    project = open_project(small_project(tmp_path / "project"))
    store = Repository(project.database_url)
    for who in (*NOBODY, "import-ann", "carl"):
        question = Question("label", ["i1"])
        events = question_event(question, who, why="import"), answer_event(question.id, who, LabelAnswer(True))
        store.append([past(event, "2024-01-01") for event in events])
    found = expired(store, 365, NOW)
    assert set(found.participants) == {"import-ann", "carl"}
    expire(store, found, 365)
    ledger = Ledger(project.settings, store.since())
    assert {asked.participant for asked, _ in ledger.counting()} == {"import", "label-column", "python"} == set(NOBODY)
    store.close()


def test_the_command_deletes_only_when_told_to(tmp_path: Path) -> None:
    folder = small_project(tmp_path / "project")
    store = Repository(open_project(folder).database_url)
    fill(store)
    store.close()
    told = CliRunner().invoke(app, ["expire", str(folder), "--days", "36500"])
    assert told.output == "Older than 36500 days: 0 people, 0 old links. Delete them with --yes.\n"
    told = CliRunner().invoke(app, ["expire", str(folder), "--days", "1"])
    first, *people = told.output.splitlines()
    assert first == "Older than 1 days: 1 person, 1 old link. Delete them with --yes."
    assert people == ["Ann (ann), last seen 2024-01-01"]
    store = Repository(open_project(folder).database_url)
    assert not list(store.since(kinds=["delete"]))
    told = CliRunner().invoke(app, ["expire", str(folder), "--days", "300", "--yes"])
    assert told.output == "Deleted: 1 person, 1 old link.\n"
    assert [event.payload["participant"] for event in store.since(kinds=["delete"])] == ["ann"]
    store.close()
