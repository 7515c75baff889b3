"""The routes, as the browser client uses them."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from tellmore.app.api import NOT_BUILT, _changes, create_app
from tellmore.app.log import told
from tellmore.app.present import introduction
from tellmore.app.session import Session
from tellmore.app.tokens import Tokens
from tellmore.data.ingest import EmbeddingSource, Ingest
from tellmore.data.project import create_project
from tellmore.data.settings import Settings, words_of
from tellmore.export import write_export
from tellmore.kinds.tick import TickAnswer
from tellmore.pool import Pool
from tellmore.questions import Question
from tellmore.store.repository import Repository
from tellmore.store.state import load_state
from tests.app.conftest import SETTINGS, TIMING, answer_to, body_for

Visit = Callable[..., TestClient]


def teach(client: TestClient, n: int) -> list[str]:
    reply = client.get("/api/question").json()
    done = []
    for _ in range(n):
        done.append(reply["question"]["id"])
        reply = client.post("/api/answers", json=body_for(reply["question"])).json()["next"]
    return done


def test_me_tells_role_and_the_projects_words(visit: Visit) -> None:
    me = visit("annotator", "ann", "Ann").get("/api/me").json()
    assert (me["role"], me["participant"], me["name"]) == ("annotator", "ann", "Ann")
    asked = {kind["name"]: kind for kind in me["project"]["kinds"]}
    assert asked["select_high"]["ask"] == "Choose the most calm"
    assert asked["select_high"]["help"].endswith("If it is tense, the others count as tense too.")
    assert "tense" in asked["label"]["ask"]
    assert "tense" in asked["tick"]["help"]
    assert asked["tick"]["sizes"] == [2, 24]
    assert {kind["script"] for kind in asked.values()} == {None}


def test_answering_returns_the_next_question_and_progress(visit: Visit, session: Session) -> None:
    ann = visit("annotator")
    first = ann.get("/api/question").json()
    assert first == ann.get("/api/question").json()
    reply = ann.post("/api/answers", json=body_for(first["question"])).json()
    assert reply["saved"] is True
    assert reply["next"]["question"]["id"] != first["question"]["id"]
    assert reply["next"]["progress"] | {"minutes": 0} == first["progress"] | {"answers": 1, "can_undo": 1, "minutes": 0}
    assert reply["next"]["progress"]["minutes"] == pytest.approx(0.1)
    stored = next(event for event in session.repository.since() if event.kind == "answer").payload
    assert stored["answer"] == answer_to(first["question"])
    unset = {"hidden_ms": 0, "blurred_ms": 0, "hidden": [], "blurred": [], "away": []}
    assert stored["timing"] == {**TIMING, **unset}


def test_undo_shows_the_question_again_and_then_the_one_that_waited(visit: Visit) -> None:
    ann = visit("annotator")
    first = ann.get("/api/question").json()["question"]
    waiting = ann.post("/api/answers", json=body_for(first)).json()["next"]["question"]
    undone = ann.post("/api/undo", json={}).json()
    assert undone["undone"] == first["id"]
    assert undone["previous"] == answer_to(first)
    again = undone["next"]["question"]
    assert (again["kind"], again["items"]) == (first["kind"], first["items"])
    assert again["id"] != first["id"]
    assert ann.post("/api/answers", json=body_for(again, flip=True)).json()["next"]["question"] == waiting
    assert ann.post("/api/undo", json={"question_id": "unknown"}).status_code == 404


def test_nothing_to_undo_is_a_conflict(visit: Visit) -> None:
    assert visit("annotator").post("/api/undo", json={}).status_code == 409


@pytest.mark.parametrize(
    "answer",
    [
        {"type": "rank", "order": ["i0", "i1"], "n_positive": 1},
        {"type": "rank", "order": [], "n_positive": 0},
        {"type": "label", "positive": True},
        {"type": "label", "positive": "yes"},
        {"type": "guess"},
        {"type": "skip", "reason": "bored"},
        {},
        None,
    ],
)
def test_answers_that_do_not_fit_are_refused_in_one_line(visit: Visit, answer: Any) -> None:
    ann = visit("annotator")
    question = ann.get("/api/question").json()["question"]
    reply = ann.post("/api/answers", json={"question_id": question["id"], "answer": answer})
    assert reply.status_code == 422
    assert "\n" not in reply.json()["error"]


@pytest.mark.parametrize(
    "change", [{"onset_ms": -1}, {"submit_ms": 1.5}, {"submit_ms": None}, {"device": "brain"}, {"x": 1}]
)
def test_times_are_whole_milliseconds(visit: Visit, change: dict[str, Any]) -> None:
    ann = visit("annotator")
    body = body_for(ann.get("/api/question").json()["question"])
    assert ann.post("/api/answers", json={**body, "timing": {**TIMING, **change}}).status_code == 422


def test_broken_json_is_refused(visit: Visit) -> None:
    reply = visit("owner").post("/api/answers", content="{nonsense", headers={"content-type": "application/json"})
    assert reply.status_code == 422
    assert reply.json() == {"error": "body: JSON decode error"}


def test_a_refused_setting_is_named_in_plain_words(visit: Visit) -> None:
    reply = visit("owner").put("/api/settings", json={"set_size": 99})
    assert reply.json() == {"error": "set_size: no kind of question shows more than 24 items"}


def test_settings_are_previewed_then_changed(visit: Visit, session: Session) -> None:
    owner = visit("owner")
    before = owner.get("/api/settings").json()
    change = {"attribute": "gentle", "question": "select", "set_size": 2}
    preview = owner.post("/api/settings/preview", json=change).json()
    asked = {kind["name"]: kind["ask"] for kind in preview["project"]["kinds"]}
    assert asked["select_high"] == "Choose the most gentle"
    assert (preview["question"]["kind"], len(preview["question"]["items"])) == ("select_high", 2)
    assert owner.get("/api/settings").json() == before
    changed = owner.put("/api/settings", json=change).json()
    assert (changed["attribute"], changed["question"], changed["set_size"]) == ("gentle", "select", 2)
    assert owner.get("/api/me").json()["project"]["attribute"] == "gentle"
    assert [event.payload for event in session.repository.since() if event.kind == "setting"] == [
        {"project": {"attribute": "gentle"}, "learning": {"question": "select", "set_size": 2}}
    ]
    assert owner.put("/api/settings", json={}).json()["attribute"] == "gentle"


@pytest.mark.parametrize(
    "change",
    [
        {"target_accuracy": 1.5},
        {"sizes": []},
        {"sizes": [1]},
        {"kinds": ["guess"]},
        {"name": ""},
        {"database": "x"},
        {"positive": "Warm", "negative": "warm "},
        {"set_size": 99},
        {"question": "rank", "set_size": 12},
    ],
)
def test_settings_out_of_range_are_refused(visit: Visit, change: dict[str, Any]) -> None:
    owner = visit("owner")
    assert owner.put("/api/settings", json=change).status_code == 422
    assert owner.post("/api/settings/preview", json=change).status_code == 422


def test_the_database_is_redacted_where_settings_are_shown(open_session: Any, tmp_path: Path) -> None:
    from tellmore.app.present import settings_out
    from tests.app.conftest import SETTINGS

    secret = SETTINGS.changed(server={"database": "postgresql://me:geheim@db.example/answers?sslkey=geheim"})
    assert "geheim" not in settings_out(secret).model_dump_json()
    assert "db.example" in settings_out(secret).model_dump_json()


def test_the_answer_log_is_newest_first_and_in_pages(visit: Visit) -> None:
    owner = visit("owner")
    done = teach(owner, 4)
    page = owner.get("/api/answers", params={"limit": 2, "offset": 1}).json()
    assert page["total"] == 4
    assert [row["question_id"] for row in page["rows"]] == [done[2], done[1]]
    assert page["rows"][0]["rt_ms"] == 6000
    assert page["rows"][0]["told"].count("“text ") == 3, "texts of several words are told apart by quotation marks"
    owner.post("/api/undo", json={"question_id": done[2]})
    assert owner.get("/api/answers").json()["rows"][1]["undone"] is True


def test_the_answer_log_names_the_items_that_were_skipped(visit: Visit) -> None:
    owner = visit("owner")
    question = owner.get("/api/question").json()["question"]
    answer = {"type": "skip", "reason": "cant_tell"}
    owner.post("/api/answers", json={"question_id": question["id"], "answer": answer})
    items = ", ".join(f"“{item['text']}”" for item in question["items"])
    assert owner.get("/api/answers").json()["rows"][0]["told"] == f"can’t tell: {items}"


@pytest.mark.parametrize(("size", "shown"), [(5, 100), (6, 40)])
def test_texts_in_the_answer_log_are_shorter_if_there_are_many(size: int, shown: int) -> None:
    items = [f"a{row} " + "long " * 40 for row in range(size)]
    pool = Pool(np.eye(size, 3, dtype=np.float32), items, items)
    line = told(Question("tick", items), TickAnswer([]), pool, words_of(SETTINGS))
    assert line is not None
    assert [len(text.rstrip("”…")) for text in line.split("“")[1:-1]] == pytest.approx([shown] * (size - 1), abs=4)


def test_reset_needs_the_projects_name(visit: Visit, session: Session) -> None:
    owner = visit("owner")
    teach(owner, 2)
    refused = owner.post("/api/reset", json={"confirm": "yes"})
    assert refused.status_code == 422
    assert refused.json()["error"] == "type the project's name to reset it"
    assert owner.post("/api/reset", json={"confirm": "moods"}).json() == {"done": True}
    assert session.settled_view().effects == ()


def test_a_participant_is_deleted_with_link_and_name(visit: Visit, session: Session, app: Any) -> None:
    owner = visit("owner")
    invitation = owner.post("/api/invitations", json={"name": "Zaphod"}).json()
    ann = TestClient(app, base_url="http://127.0.0.1")
    ann.get(invitation["url"].replace("http://127.0.0.1", ""))
    teach(ann, 3)
    assert owner.delete("/api/participants/nobody").status_code == 404
    assert owner.delete(f"/api/participants/{invitation['participant']}").json() == {"done": True}
    assert ann.get("/api/me").status_code == 401
    assert session.settled_view().effects == ()
    everything = (
        owner.get("/api/export/jsonl").text + owner.get("/api/dashboard").text + owner.get("/api/invitations").text
    )
    assert "Zaphod" not in everything
    assert owner.delete("/api/participants/owner").status_code in (200, 404)
    assert owner.get("/api/me").status_code == 200


def test_exports_hold_the_answers_and_neutralise_formulas(visit: Visit, session: Session) -> None:
    owner = visit("owner")
    done = teach(owner, 3)
    log = [json.loads(line) for line in owner.get("/api/export/jsonl").text.splitlines()]
    assert [event["question_id"] for event in log if event.get("kind") == "answer"] == done
    rows = list(csv.DictReader(io.StringIO(owner.get("/api/export/csv").text)))
    assert [row["question_id"] for row in rows] == done
    assert [row["rt_ms"] for row in rows] == ["6000"] * 3
    scores = owner.get("/api/export/csv", params={"table": "scores"}).text
    assert "=HYPERLINK" in scores
    for cell in (cell for row in csv.reader(io.StringIO(scores)) for cell in row):
        assert not cell.startswith(("=", "@")), cell
    assert owner.get("/api/export/npz").content[:2] == b"PK"
    assert owner.get("/api/export/docx").status_code == 404


def test_pictures_are_served_by_id_only(session: Session, tokens: Any, tmp_path: Path) -> None:
    from PIL import Image

    Image.new("RGB", (8, 8), "red").save(tmp_path / "a.png")
    pool = Pool(np.eye(2), ids=["a/b c", "plain"], images=[str(tmp_path / "a.png"), ""])
    app = create_app(session, tokens=tokens, project=create_project(tmp_path / "project", pool))
    client = TestClient(app, base_url="http://127.0.0.1")
    token, _ = tokens.issue("annotator", "ann", "Ann")
    client.headers["authorization"] = f"Bearer {token}"
    reply = client.get("/api/items/a%2Fb%20c/image")
    assert (reply.status_code, reply.content[:2], reply.headers["content-type"]) == (200, b"\xff\xd8", "image/jpeg")
    assert client.get("/api/items/plain/image").status_code == 404
    for made in (tmp_path / "project" / "images").iterdir():
        made.unlink()
    gone = client.get("/api/items/a%2Fb%20c/image")
    assert (gone.status_code, str(tmp_path) in gone.text) == (404, False)
    assert client.get("/api/items/other/image").status_code == 404
    del client.headers["authorization"]
    assert client.get("/api/items/a%2Fb%20c/image").status_code == 401


@pytest.mark.parametrize(
    ("format", "names"),
    [
        ("onnx", ["tellmore-onnx.onnx", "tellmore-onnx.onnx.tfidf.onnx"]),
        ("sklearn", ["tellmore-sklearn.skops", "tellmore-sklearn.skops.tfidf.skops"]),
        ("npz", ["tellmore-npz.npz", "tellmore-npz.npz.tfidf.npz"]),
    ],
)
def test_a_downloaded_classifier_of_texts_is_what_the_command_line_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str, names: list[str]
) -> None:
    pytest.importorskip("sklearn")
    (tmp_path / "items.csv").write_text("id,text\na,kind staff\nb,rude staff\nc,kind room\nd,cold room\n")
    project, _ = Ingest(tmp_path / "p", tmp_path / "items.csv", EmbeddingSource(embed="tfidf")).run()
    session = Session(Repository(project.database_url), project.pool, project.settings).start()
    tokens = Tokens(session.repository)
    client = TestClient(create_app(session, tokens=tokens, project=project), base_url="http://127.0.0.1")
    client.headers["authorization"] = f"Bearer {tokens.issue_owner_link()}"
    reply = client.get(f"/api/export/{format}")
    assert reply.headers["content-type"] == "application/zip"
    assert reply.headers["content-disposition"] == f'attachment; filename="tellmore-{format}.zip"'
    assert client.get("/api/export/csv").headers["content-type"].startswith("text/csv")
    [snippet] = [one["snippet"] for one in client.get("/api/exports").json() if one["path"] == f"/api/export/{format}"]
    session.close()
    written = write_export(load_state(project), format, tmp_path / names[0])
    with zipfile.ZipFile(io.BytesIO(reply.content)) as archive:
        assert archive.namelist() == names == [path.name for path in written]
        if format == "onnx":
            assert [archive.read(name) for name in names] == [path.read_bytes() for path in written]
        archive.extractall(tmp_path / "taken")
    monkeypatch.chdir(tmp_path / "taken")
    np.save("new.npy", project.pool.X[:2])
    used: dict[str, Any] = {}
    exec(snippet, used)
    assert len(used["score" if format == "npz" else "probability"]) == 2


def test_changes_are_announced_while_somebody_answers(session: Session) -> None:
    async def listen() -> list[str]:
        stream = _changes(session)
        first = await anext(stream)
        asked = await asyncio.to_thread(session.question, "ann")
        second = await anext(stream)
        session.closing = True
        rest = [message async for message in stream]
        session.closing = False
        assert asked is not None
        return [first, second, *rest]

    messages = asyncio.run(listen())
    assert all(message.startswith("event: changed\ndata: {") for message in messages)
    numbers = [json.loads(message.split("data: ")[1])["seq"] for message in messages]
    assert numbers[1] > numbers[0]


def test_pages_say_how_to_build_the_client_where_it_is_not_built(
    app: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    client = TestClient(app, base_url="http://127.0.0.1")
    monkeypatch.setattr("tellmore.app.api.STATIC", tmp_path)
    assert client.get("/").text == NOT_BUILT + "\n"
    (tmp_path / "index.html").write_text("<!doctype html>")
    assert client.get("/").text == "<!doctype html>"


def test_the_api_describes_itself(app: Any) -> None:
    schema = TestClient(app, base_url="http://127.0.0.1").get("/api/openapi.json").json()
    assert "/api/answers" in schema["paths"]
    for path, methods in schema["paths"].items():
        for about in methods.values():
            assert about.get("description"), path


def test_people_read_what_it_is_for_before_they_begin(visit: Visit) -> None:
    owner, ann = visit(), visit("annotator", "ann", "Ann")
    told = owner.get("/api/me").json()["introduction"]
    assert len(told) <= 3
    assert "calm" in told[0]
    assert "you can stop" in told[1]
    owner.put("/api/settings", json={"quota": 30, "question": "auto", "check_share": 0.2})
    aim, length, why = ann.get("/api/me").json()["introduction"]
    assert aim == told[0]
    assert "30 answers" in length
    assert "differ in kind" in why
    assert "random" in why


def test_owners_of_a_few_items_are_not_told_that_many_answers_are_needed() -> None:
    told = [introduction(Settings(), items, owner=True)[1] for items in (12, 3000)]
    assert told[0].startswith("The questions end when all 12 items have a label")
    assert told[1].startswith("It needs at least 20 answers")


def test_guidelines_are_settings_that_everybody_reads(visit: Visit) -> None:
    text = "# What counts\n\n- **calm** seas"
    assert visit().put("/api/settings", json={"guidelines": text}).json()["guidelines"] == text
    ann = visit("annotator", "ann", "Ann")
    assert ann.get("/api/me").json()["project"]["guidelines"] == text


def test_guidelines_are_a_page_in_which_nothing_runs(visit: Visit, app: Any) -> None:
    owner = visit()
    assert owner.get("/guidelines", headers={"accept": "text/html"}).status_code == 404
    text = "# What counts\n\n| word | why |\n|---|---|\n| **calm** | slow |\n\n<script>alert(1)</script>\n"
    links = "\n[bad](javascript:alert(1)) [good](https://example.org)\n\n![x](https://example.org/x.png)\n"
    owner.put("/api/settings", json={"guidelines": text + links})
    page = visit("annotator", "ann", "Ann").get("/guidelines").text
    assert "<h1>What counts</h1>" in page
    assert "<td><strong>calm</strong></td>" in page
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    assert 'href="javascript' not in page
    assert 'href="https://example.org"' in page
    assert "<img" not in page
    assert TestClient(app, base_url="http://127.0.0.1").get("/guidelines").status_code == 401
