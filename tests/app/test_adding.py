"""Texts added in the browser: either all are added or none, and no answer is lost."""

from __future__ import annotations

import json
import shutil
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from tellmore.app import adding as app_adding
from tellmore.app.api import create_app
from tellmore.app.server import open_session
from tellmore.app.session import Session
from tellmore.app.tokens import Tokens
from tellmore.data.ingest import EmbeddingSource, Ingest
from tellmore.data.project import open_project
from tellmore.data.settings import Settings
from tellmore.errors import DataFileError
from tellmore.store.beforehand import beforehand_of
from tellmore.store.state import load_state

GOOD, BAD = (
    ("warm kind helpful staff", "lovely kind meal", "helpful warm room"),
    ("cold rude staff", "awful meal", "cold"),
)
TEXTS = [f"{text} {'indeed' if n % 2 else 'today'}" for n in range(5) for text in (*GOOD, *BAD)]
NEW = "id,text,label\nn1,kind and warm today,what is this\nn2,rude and awful indeed,\nn3,staff room meal,\n"


class Served:
    """A project of texts, its session, and the owner's browser."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.project = folder, open_project(folder)
        self.session: Session = open_session(self.project, beforehand=beforehand_of(self.project)).start()
        tokens = Tokens(self.session.repository)
        app = create_app(self.session, tokens=tokens, project=self.project)
        self.owner = TestClient(app, base_url="http://127.0.0.1")
        self.owner.get(f"/?token={tokens.issue_owner_link()}")
        self.app: Any = app.state.tellmore

    def send(self, content: str | bytes, name: str = "new.csv", encoding: str | None = None) -> Any:
        raw = content.encode() if isinstance(content, str) else content
        body = {"name": name, "content": b64encode(raw).decode(), "encoding": encoding}
        return self.owner.post("/api/items", json=body)

    def add(self, content: str = NEW) -> dict[str, Any]:
        """Add the texts, and wait until that has ended."""
        assert self.send(content).status_code == 202
        with self.app.adding._turn:
            return dict(self.owner.get("/api/items/adding").json())


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tmp_path = tmp_path_factory.mktemp("texts")
    items = tmp_path / "items.csv"
    items.write_text("id,text\n" + "".join(f"t{n},{text}\n" for n, text in enumerate(TEXTS)), encoding="utf-8")
    Ingest(tmp_path / "reviews", items, EmbeddingSource(embed="tfidf"), settings=Settings()).run()
    return tmp_path / "reviews"


@pytest.fixture
def made(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "reviews"))


@pytest.fixture
def served(made: Path) -> Iterator[Served]:
    serving = Served(made)
    yield serving
    serving.session.close()


def test_added_texts_are_in_the_pool_and_no_answer_is_lost(served: Served) -> None:
    session, before = served.session, served.project.pool.X.copy()
    for item in ("t0", "t3", "t6", "t9"):
        session.label("owner", item, item in ("t0", "t6"))
    session.settled_view()
    open_now = session.question("owner")
    settings = served.folder / "tellmore.toml"
    settings.write_text("# our own words\n" + settings.read_text(encoding="utf-8"), encoding="utf-8")
    told = served.add()
    assert (told["state"], told["done"], told["total"]) == ("done", 3, 3)
    assert told["message"].startswith("3 texts were added")
    rows = {row["id"]: row for row in served.owner.get("/api/items", params={"search": "today"}).json()["rows"]}
    assert rows["n1"]["text"] == "kind and warm today"
    assert session.settled_view().learner.labels() == {"t0": True, "t3": False, "t6": True, "t9": False}
    assert session.question("owner").question.id == open_now.question.id, "the open question stays"
    found = load_state(open_project(served.folder))
    assert found.pool.ids[-3:] == ("n1", "n2", "n3")
    np.testing.assert_array_equal(found.pool.X[: len(before)], before)
    np.testing.assert_allclose(found.learner.probabilities(), session.settled_view().probability, atol=1e-9)
    assert found.ledger.initial.data.n == len(TEXTS) + 3
    assert found.ledger.initial.data.sha256 == found.pool.fingerprint
    assert settings.read_text(encoding="utf-8").startswith("# our own words")
    session.label("owner", "n1", True)
    assert session.settled_view().learner.labels()["n1"] is True
    session.undo("owner")
    assert len(session.settled_view().effects) == 4
    (event,) = (each for each in session.repository.since() if each.kind == "items")
    assert (event.participant, event.payload) == ("owner", {"added": 3, "file": "new.csv"})
    assert served.add("id;text\nn4;eine warme Suppe\n")["state"] == "done"
    assert len(session.pool) == len(served.app.project.pool) == len(TEXTS) + 4


def test_texts_equal_to_an_example_of_the_start_can_be_added(made: Path, served: Served) -> None:
    served.add("id,text\nn1,kind helpful room\n")
    served.session.close()
    settings = made / "tellmore.toml"
    settings.write_text(settings.read_text().replace("like = []", 'like = ["kind helpful room"]', 1))
    again = Served(made)
    try:
        again.session.label("owner", "t3", False)
        assert again.add("id,text\nn2,Kind helpful ROOM\n")["state"] == "done"
    finally:
        again.session.close()
    found = load_state(open_project(made))
    assert found.pool.ids[-2:] == ("n1", "n2")
    assert found.learner.start_weight is not None


def test_an_encoding_that_must_be_guessed_is_asked_for(served: Served) -> None:
    content = "id,text\nn1,тёплый и добрый приём сегодня\nn2,холодный суп и грубый официант\n".encode("koi8-r")
    told = served.send(content).json()
    assert (told["state"], told["guesses"][0]["encoding"]) == ("guessed", "koi8-r")
    assert told["guesses"][0]["reading"] == "тёплый и добрый приём сегодня"
    assert "Nothing was added yet" in told["message"]
    assert len(served.session.pool) == len(TEXTS)
    assert {guess["encoding"] for guess in told["guesses"]} < set(told["encodings"])
    assert "unknown encoding 'koi9'" in served.send(content, encoding="koi9").json()["error"]
    assert "not UTF-8 text" in served.send(content, encoding="utf-8").json()["error"]
    assert served.send(content, encoding="koi8-r").status_code == 202
    with served.app.adding._turn:
        assert served.owner.get("/api/items/adding").json()["state"] == "done"
    assert served.app.project.items[-1]["text"] == "холодный суп и грубый официант"


REFUSED = {
    "name,words\na,b\n": "first row must name the columns 'id' and 'text'; it has 'name', 'words'",
    "id,text\nt1,again\n": "row 2: the project already has an item with the id 't1'",
    "id,text\na,x\na,y\n": "row 3: the id 'a' is already in row 2",
    "id,text\na, \n,b\n": "row 2: the text is missing; row 3, column id: the id is missing",
    "id,text\n": "there are no rows below the first one",
    "": "the file is empty",
    "id,text\n" + "".join(f"t{n},x\n" for n in range(9)): "and 4 more rows",
    "id,text\na," + "x" * app_adding.MAX_FILE_BYTES: "larger than 8 MB; divide it",
}


def test_a_file_that_cannot_be_added_is_refused_in_words(served: Served) -> None:
    for content, words in REFUSED.items():
        reply = served.send(content)
        assert reply.status_code == 422, words
        error = reply.json()["error"]
        assert words in error
        assert "/" not in error, "no folder of the server"
    assert served.send("x" * (17 << 20)).status_code == 413
    assert served.owner.get("/api/items/adding").json()["state"] == "none"
    assert len(served.session.pool) == len(TEXTS)


def test_what_fails_half_way_changes_nothing(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise DataFileError(f"{served.folder}/tellmore.toml: no space")

    with monkeypatch.context() as broken:
        broken.setattr(app_adding, "keep_added", full)
        told = served.add()
    assert told["state"] == "failed"
    assert told["message"] == "Nothing was added: tellmore.toml: no space"
    assert len((served.folder / "items.jsonl").read_text(encoding="utf-8").splitlines()) == len(TEXTS) + 3
    again = open_project(served.folder)
    assert len(again.pool) == len(again.items) == len(served.session.pool) == len(TEXTS)
    assert served.add()["state"] == "done"
    assert open_project(served.folder).pool.ids[-3:] == ("n1", "n2", "n3")


def test_a_project_whose_items_were_all_labelled_goes_on_with_new_ones(served: Served) -> None:
    for n in range(len(TEXTS)):
        served.session.label("owner", f"t{n}", n % 6 < 3)
    served.session.settled_view()
    assert served.session.question("owner") is None
    assert served.add()["state"] == "done"
    served.session.settled_view()
    assert served.session.question("owner") is not None


def test_texts_need_an_embedder_and_items_that_are_texts(
    session: Session, visit: Callable[..., TestClient], made: Path
) -> None:
    owner = visit()
    assert owner.get("/api/items/adding").json()["refusal"] == app_adding.NO_FOLDER
    body = {"name": "a.csv", "content": b64encode(NEW.encode()).decode()}
    assert owner.post("/api/items", json=body).json()["error"] == app_adding.NO_FOLDER
    assert visit("annotator").post("/api/items", json=body).status_code == 403
    assert len(session.pool) == 60
    (made / "tfidf.npz").unlink()
    kept = open_project(made)
    refusals = {
        made_by: app_adding.no_texts(type(kept)(made, kept.settings.changed(data={"embeddings": made_by})), None) or ""
        for made_by in ("model2vec:some/model", "exec", "vectors.npz")
    }
    assert refusals["model2vec:some/model"].endswith("tellmore serve PROJECT --embed model2vec:some/model")
    assert refusals["exec"].endswith("--embed exec:COMMAND")
    assert "come from a file" in refusals["vectors.npz"]
    lines = (made / "items.jsonl").read_text(encoding="utf-8").splitlines()
    shown = [json.dumps({**json.loads(line), "image": "a.jpg"}) for line in lines]
    (made / "items.jsonl").write_text("\n".join(shown), encoding="utf-8")
    assert "pictures" in (app_adding.no_texts(open_project(made), "exec:x") or "")
