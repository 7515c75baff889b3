"""Several projects on one server: a start page, and each project at its own address with its own people."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tellmore.app.limits import RateLimit
from tellmore.app.several import Home, serve_folder
from tellmore.app.tokens import Tokens
from tellmore.data.project import DATABASE_FILE, open_project, projects_in
from tellmore.errors import StateError
from tellmore.kinds.label import LabelAnswer
from tellmore.questions import Question
from tellmore.store.events import answer_event, question_event
from tellmore.store.repository import Repository
from tests.app.serving import small_project

PAGE = {"accept": "text/html"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("moods", "topics"):
        small_project(tmp_path / name, n=40)
    (tmp_path / "notes").mkdir()
    return tmp_path


@pytest.fixture
def browser(folder: Path) -> Iterator[TestClient]:
    """A browser that has opened the printed link."""
    home = Home(folder, projects_in(folder))
    tokens = Tokens(home.repository)
    app = home.app(home, tokens=tokens, bind="127.0.0.1", allow_hosts=(), limit=RateLimit(rate=10_000, burst=10_000))
    home.start()
    client = TestClient(app, base_url="http://127.0.0.1")
    client.get(f"/?token={tokens.issue_owner_link()}")
    yield client
    home.closing = True
    home.close()


def test_projects_are_found_by_their_settings(folder: Path) -> None:
    assert [path.name for path in projects_in(folder)] == ["moods", "topics"]
    assert projects_in(folder / "moods") == projects_in(folder / "nothing") == []


def test_the_start_page_opens_every_project_as_its_owner(browser: TestClient) -> None:
    page = browser.get("/", headers=PAGE)
    assert 'href="/open/moods"' in page.text
    assert "40 items" in page.text
    opened = browser.get("/open/moods", follow_redirects=False)
    assert opened.headers["location"].startswith("/p/moods/?token=")
    cleaned = browser.get(opened.headers["location"], follow_redirects=False)
    assert (cleaned.status_code, cleaned.headers["location"]) == (303, "/p/moods/")
    assert browser.get("/p/moods/api/me").json()["role"] == "owner"
    assert browser.get("/p/topics/api/me").status_code == 401, "each project has its own people"
    again = browser.get("/open/moods", follow_redirects=False)
    assert again.headers["location"] == "/p/moods/", "who is known gets no new link"
    assert browser.get("/open/nothing", headers=PAGE).status_code == 404


def test_invitations_lead_to_their_own_project(browser: TestClient) -> None:
    browser.get("/open/topics")
    url = browser.post("/p/topics/api/invitations", json={"name": "Ann"}).json()["url"]
    assert url.startswith("http://127.0.0.1/p/topics/?token=")
    ann = TestClient(browser.app, base_url="http://127.0.0.1")
    ann.get(url)
    assert ann.get("/p/topics/api/question").json()["question"]
    assert ann.get("/p/moods/api/question").status_code == 401
    assert "Projects" not in ann.get("/", headers=PAGE).text, "the list is for who runs the server"
    assert 'href="/p/topics/"' in ann.get("/p/topics/nowhere", headers=PAGE).text
    switched = ann.get(browser.get("/open/topics", follow_redirects=False).headers["location"], headers=PAGE)
    assert switched.status_code == 200
    for path in ("/p/topics/api/me", "/"):
        assert ann.get(path).headers["x-frame-options"] == "DENY"


def test_a_folder_that_cannot_be_an_address_is_named(tmp_path: Path) -> None:
    small_project(tmp_path / "my moods", n=12)
    with pytest.raises(StateError, match="'my moods' cannot be part of an address"):
        serve_folder(tmp_path, say=print)


def damage(project: Path) -> None:
    """An answer in the log on an item that is not in the pool."""
    store = Repository(open_project(project).database_url)
    question = Question("label", ["nobody"])
    store.append([question_event(question, "ann"), answer_event(question.id, "ann", LabelAnswer(True))])
    store.close()


@pytest.fixture
def one_damaged(folder: Path) -> Path:
    damage(folder / "moods")
    return folder


def test_a_damaged_project_is_named_with_what_to_do_and_the_others_are_served(
    one_damaged: Path, browser: TestClient
) -> None:
    page = browser.get("/", headers=PAGE).text
    assert 'href="/open/moods"' not in page
    assert "is damaged" in page
    assert "tellmore repair moods" in page
    assert str(one_damaged) not in page, "the page does not say where it is on this computer"
    assert browser.get("/open/moods", headers=PAGE).status_code == 404
    browser.get("/open/topics")
    assert browser.get("/p/topics/api/question").json()["question"]


def test_a_project_whose_settings_are_wrong_does_not_stop_the_others(folder: Path) -> None:
    (folder / "moods" / "tellmore.toml").write_text("[learning]\nseed = -1\n", encoding="utf-8")
    home = Home(folder, projects_in(folder))
    try:
        assert list(home.sessions) == ["topics"]
        assert "learning.seed" in home.refused["moods"]
    finally:
        home.close()


def test_where_no_project_can_be_served_the_command_says_why(folder: Path) -> None:
    for name in ("moods", "topics"):
        damage(folder / name)
    with pytest.raises(StateError, match=r"no project of .* can be served; moods: the log .* is damaged"):
        serve_folder(folder, say=print)
    assert (folder / "moods" / DATABASE_FILE).exists()
