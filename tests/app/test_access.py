"""Tokens, roles and the shape of requests; attacks that must fail."""

from __future__ import annotations

import hashlib
import html
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from tellmore.app.access import MAX_BODY_BYTES, SECURITY_HEADERS, Guard, allowed_hosts
from tellmore.app.api import create_app
from tellmore.app.limits import CHEAP_UNDO, RateLimit
from tellmore.app.session import Session
from tellmore.app.tokens import EXPIRED, KEPT_OWNER_LINKS, Tokens, days_from_now
from tellmore.pool import Pool
from tellmore.store.repository import Repository, TokenRow, utc_now
from tests.app.conftest import SETTINGS, body_for

OWNER_ROUTES = [
    ("GET", "/api/agreement"),
    ("GET", "/api/opinions"),
    ("POST", "/api/settle"),
    ("POST", "/api/leave-out"),
    ("GET", "/api/dashboard"),
    ("GET", "/api/answers"),
    ("GET", "/api/events"),
    ("GET", "/api/settings"),
    ("PUT", "/api/settings"),
    ("POST", "/api/settings/preview"),
    ("GET", "/api/invitations"),
    ("POST", "/api/invitations"),
    ("DELETE", "/api/invitations/x"),
    ("DELETE", "/api/participants/x"),
    ("GET", "/api/audit"),
    ("POST", "/api/end"),
    ("POST", "/api/go-on"),
    ("POST", "/api/reset"),
    ("GET", "/api/judge"),
    ("GET", "/api/start"),
    ("POST", "/api/start/preview"),
    ("GET", "/api/items/adding"),
    ("POST", "/api/items"),
    ("GET", "/api/items"),
    ("GET", "/api/items/x/why"),
    ("POST", "/api/labels"),
    ("GET", "/api/exports"),
    ("GET", "/api/export/jsonl"),
    ("GET", "/api/export/npz"),
]
TEACHER_ROUTES = [("GET", "/api/question"), ("POST", "/api/answers"), ("POST", "/api/undo")]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory, pool: Pool) -> Iterator[Session]:
    """One project for all of these tests: they hardly change it."""
    store = Repository(f"sqlite:///{tmp_path_factory.mktemp('access') / 'log.sqlite'}")
    opened = Session(store, pool, SETTINGS).start()
    yield opened
    opened.close()


def send(client: TestClient, method: str, path: str) -> Any:
    bodies = {
        "/api/answers": {"question_id": "x", "answer": {"type": "label", "positive": True}},
        "/api/invitations": {"name": "Eve"},
        "/api/reset": {"confirm": "moods"},
    }
    return client.request(method, path, json=bodies.get(path, {}) if method in ("POST", "PUT") else None)


def anonymous(app: Any, **options: Any) -> TestClient:
    return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False, **options)


# Tokens


def test_a_token_is_exchanged_for_a_strict_cookie_and_leaves_the_address(app: Any, tokens: Tokens) -> None:
    token = tokens.issue_owner_link()
    reply = anonymous(app).get(f"/dashboard?token={token}&tab=people", follow_redirects=False)
    assert (reply.status_code, reply.headers["location"]) == (303, "/dashboard?tab=people")
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "Secure" not in cookie
    secure = TestClient(app, base_url="https://127.0.0.1").get(f"/?token={token}", follow_redirects=False)
    assert "Secure" in secure.headers["set-cookie"]


@pytest.mark.parametrize(
    "path",
    ["//evil.example", "/\\evil.example", "///evil.example/x", "/%09/evil.example", "/%0a//evil.example", "/%5cevil"],
)
def test_the_redirect_never_leaves_this_server(app: Any, tokens: Tokens, path: str) -> None:
    reply = anonymous(app).request(
        "GET", f"http://127.0.0.1{path}", params={"token": tokens.issue_owner_link()}, follow_redirects=False
    )
    location = reply.headers.get("location", "/")
    assert location.startswith("/")
    assert not location.startswith(("//", "/\\"))
    assert re.fullmatch(r"[!-~]+", location), "browsers leave out control characters before they read an address"
    assert "evil.example" not in location


def test_only_the_hash_of_a_token_is_stored(tokens: Tokens, session: Session) -> None:
    token, row = tokens.issue("annotator", "p1", "Ann")
    secret = token.split("_", 2)[2]
    assert row.hash == hashlib.sha256(secret.encode()).hexdigest()
    assert secret not in str(session.repository.tokens())


def test_wrong_damaged_and_revoked_tokens_open_nothing(tokens: Tokens) -> None:
    token, row = tokens.issue("owner", "p1", "Ann")
    assert tokens.visitor(token).participant == "p1"
    other, _ = tokens.issue("owner", "p2", "Bob")
    mixed = "_".join([*token.split("_")[:2], other.split("_", 2)[2]])
    for wrong in (None, "", "tm_", token[:-1], token + "x", token.upper(), mixed, token.replace("tm_", "")):
        assert tokens.visitor(wrong) is None
    assert tokens.revoke([row.id]) == 1
    assert tokens.visitor(token) is None


def test_secrets_are_compared_in_constant_time(tokens: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    monkeypatch.setattr(
        "tellmore.app.access.hmac.compare_digest", lambda one, other: compared.append(1) or one == other
    )
    token, _ = tokens.issue("owner", "p1", "Ann")
    tokens.visitor(token)
    tokens.visitor(f"tm_{'0' * 12}_{token.split('_', 2)[2]}")
    assert len(compared) == 2


def test_a_clock_set_back_leaves_the_owner_a_valid_link(tokens: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(KEPT_OWNER_LINKS):
        tokens.issue_owner_link()
    monkeypatch.setattr("tellmore.store.repository.utc_now", lambda: "2001-01-01T00:00:00.000Z")
    for _ in range(KEPT_OWNER_LINKS + 1):
        assert tokens.visitor(tokens.issue_owner_link()) is not None


def test_a_token_issued_while_the_store_is_read_again_is_valid(tokens: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = tokens._repository
    read, add = repository.tokens, repository.add_token
    reading, added, issued = threading.Event(), threading.Event(), threading.Event()

    def read_slowly() -> list[TokenRow]:
        rows = read()
        if not reading.is_set():
            reading.set()
            assert added.wait(30)
            issued.wait(0.5)  # this can only happen if reading does not block others
        return rows

    def add_and_tell(row: TokenRow) -> None:
        add(row)
        added.set()

    monkeypatch.setattr(repository, "tokens", read_slowly)
    monkeypatch.setattr(repository, "add_token", add_and_tell)
    looking = threading.Thread(target=tokens.reload)
    looking.start()
    assert reading.wait(30)
    token, _ = tokens.issue("annotator", "p-new", "Ann")
    issued.set()
    looking.join()
    assert tokens.visitor(token) is not None


def test_tokens_run_out(session: Session, app: Any) -> None:
    now = [utc_now()]
    tokens = Tokens(session.repository, now=lambda: now[0])
    owner = tokens.issue_owner_link()
    lasting, _ = tokens.issue("annotator", "p-lasting", "Ann")
    brief, _ = tokens.issue("annotator", "p-brief", "Bob", expires_utc=days_from_now(1))
    now[0] = days_from_now(2) or ""
    assert [tokens.visitor(token) is not None for token in (owner, lasting, brief)] == [True, True, False]
    assert tokens.refusal(brief) == EXPIRED
    now[0] = days_from_now(31) or ""
    assert [tokens.visitor(token) is not None for token in (owner, lasting)] == [False, True]
    opened = app.state.tellmore.tokens.issue_owner_link()
    reply = anonymous(app).get(f"/?token={opened}", follow_redirects=False)
    assert int(re.search(r"Max-Age=(\d+)", reply.headers["set-cookie"])[1]) <= 30 * 86_400  # type: ignore[index]


def test_an_invitation_for_several_makes_each_somebody(visit: Callable[..., TestClient], app: Any) -> None:
    owner = visit()
    made = owner.post("/api/invitations", json={"name": "Class", "people": 2, "expires_days": 7}).json()
    link = made["url"].removeprefix("http://127.0.0.1")
    assert made["people_left"] == 2
    assert made["expires_utc"] > utc_now()

    def come() -> TestClient | None:
        browser = anonymous(app)
        page = browser.get(link, headers=HTML)
        begin = re.search(r'href="(/\?token=[^"]+)"', page.text)
        assert begin is not None
        joined = browser.get(html.unescape(begin[1]), headers=HTML)
        return browser if joined.status_code != 401 else None

    first, second, third = come(), come(), come()
    assert first is not None
    assert second is not None
    assert third is None
    names = [browser.get("/api/me").json()["name"] for browser in (first, second)]
    assert names == ["Class 1", "Class 2"]
    first.get(link, headers=HTML)
    assert first.get("/api/me").json()["name"] == "Class 1", "the same browser stays the same person"
    token = link.partition("token=")[2]
    assert anonymous(app).get("/api/me", headers={"authorization": f"Bearer {token}"}).status_code == 200


def test_old_start_links_run_out_but_the_last_few_survive_restarts(tokens: Tokens) -> None:
    links = [tokens.issue_owner_link() for _ in range(KEPT_OWNER_LINKS + 2)]
    assert [tokens.visitor(link) is not None for link in links] == [False] * 2 + [True] * KEPT_OWNER_LINKS


def test_revoking_an_invitation_works_at_once(visit: Callable[..., TestClient], app: Any) -> None:
    owner = visit("owner")
    invitation = owner.post("/api/invitations", json={"name": "Ann"}).json()
    ann = anonymous(app)
    ann.get(invitation["url"].replace("http://127.0.0.1", ""))
    assert ann.get("/api/question").status_code == 200
    assert owner.delete(f"/api/invitations/{invitation['id']}").json() == {"done": True}
    assert ann.get("/api/question").status_code == 401
    assert (
        "url" not in str(owner.get("/api/invitations").json()) or owner.get("/api/invitations").json()[0]["url"] is None
    )


# Roles


@pytest.mark.parametrize(("method", "path"), [*OWNER_ROUTES, *TEACHER_ROUTES, ("GET", "/api/me")])
def test_nothing_under_api_without_a_token(app: Any, method: str, path: str) -> None:
    reply = send(anonymous(app), method, path)
    assert reply.status_code == 401
    assert list(reply.json()) == ["error"]


@pytest.mark.parametrize("role", ["annotator", "participant"])
@pytest.mark.parametrize(("method", "path"), OWNER_ROUTES)
def test_only_owners_read_the_model_other_answers_and_files(
    visit: Callable[..., TestClient], role: str, method: str, path: str
) -> None:
    assert send(visit(role), method, path).status_code == 403


@pytest.mark.parametrize(("method", "path"), TEACHER_ROUTES)
def test_study_participants_do_not_teach(visit: Callable[..., TestClient], method: str, path: str) -> None:
    assert send(visit("participant"), method, path).status_code == 403


def test_every_owner_route_is_in_the_list_above(app: Any) -> None:
    listed = {
        (method, path.replace("/x", "/{}").replace("/jsonl", "/{}").replace("/npz", "/{}"))
        for method, path in OWNER_ROUTES
    }
    schema = app.openapi()["paths"]
    owned = {
        (method.upper(), "/".join("{}" if part.startswith("{") else part for part in path.split("/")))
        for path, methods in schema.items()
        for method, about in methods.items()
        if "owner" in about.get("tags", [])
    }
    assert owned == listed


def test_annotators_get_no_accuracy_and_no_time_left(visit: Callable[..., TestClient]) -> None:
    progress = visit("annotator").get("/api/question").json()["progress"]
    assert progress["standing"] == []
    assert progress["answers_all"] is None


def test_an_annotator_cannot_undo_somebody_else(visit: Callable[..., TestClient]) -> None:
    ann, bob = visit("annotator", "ann"), visit("annotator", "bob")
    question = ann.get("/api/question").json()["question"]
    ann.post("/api/answers", json=body_for(question))
    assert bob.post("/api/undo", json={"question_id": question["id"]}).status_code == 404


# Attacks


def test_a_forged_question_id_and_somebody_elses_are_unknown(visit: Callable[..., TestClient]) -> None:
    ann, bob = visit("annotator", "ann"), visit("annotator", "bob")
    question = ann.get("/api/question").json()["question"]
    assert bob.post("/api/answers", json=body_for(question)).status_code == 404
    assert bob.post("/api/answers", json=body_for({**question, "id": "0" * 32})).status_code == 404


def test_a_replayed_answer_changes_nothing_and_a_changed_one_is_refused(
    visit: Callable[..., TestClient], session: Session
) -> None:
    ann = visit("annotator", "replaying")
    question = ann.get("/api/question").json()["question"]
    first = ann.post("/api/answers", json=body_for(question)).json()
    assert ann.post("/api/answers", json=body_for(question)).json() == first
    assert ann.post("/api/answers", json=body_for(question, flip=True)).status_code == 409
    assert [event.question_id for event in session.repository.since(kinds=["answer"])].count(question["id"]) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1.evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_post_from_another_site_is_refused(visit: Callable[..., TestClient], headers: dict[str, str]) -> None:
    owner = visit("owner")
    assert owner.post("/api/reset", json={"confirm": "moods"}, headers=headers).status_code == 403
    assert owner.delete("/api/participants/owner", headers=headers).status_code == 403


def test_a_post_from_our_own_page_passes(visit: Callable[..., TestClient]) -> None:
    headers = {"origin": "http://127.0.0.1", "sec-fetch-site": "same-origin"}
    assert visit("owner").post("/api/invitations", json={"name": "A"}, headers=headers).status_code == 201


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_what_a_form_can_send_is_refused(visit: Callable[..., TestClient], kind: str) -> None:
    reply = visit("owner").post("/api/undo", content='{"question_id": null}', headers={"content-type": kind})
    assert reply.status_code == 415


def test_an_oversized_body_is_refused_with_and_without_its_length(visit: Callable[..., TestClient]) -> None:
    owner = visit("owner")
    large = b'{"confirm": "' + b"x" * MAX_BODY_BYTES + b'"}'
    json = {"content-type": "application/json"}
    assert owner.post("/api/reset", content=large, headers=json).status_code == 413
    assert owner.post("/api/reset", content=iter([large[:1000]] * 100), headers=json).status_code == 413


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8000", "10.0.0.5", ""]
)
def test_a_foreign_host_gets_nothing(app: Any, tokens: Tokens, host: str) -> None:
    client = anonymous(app)
    assert client.get("/", headers={"host": host}).status_code == 421
    token = tokens.issue_owner_link()
    assert client.get("/api/me", headers={"host": host, "authorization": f"Bearer {token}"}).status_code == 421


def test_hosts_by_address_and_by_allowed_name() -> None:
    loopback, everywhere = allowed_hosts("127.0.0.1"), allowed_hosts("0.0.0.0", ["teach.example.org"])
    assert all(loopback(host) for host in ("127.0.0.1:8000", "localhost", "LOCALHOST:1", "[::1]:8000"))
    assert not loopback("192.168.1.2")
    assert all(everywhere(host) for host in ("192.168.1.2:8000", "[fe80::1]:80", "Teach.Example.org"))
    assert not everywhere("evil.example")


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../../wire.py",
        "/assets/..%2f..%2fwire.py",
        "/assets/%2e%2e/%2e%2e/wire.py",
        "/assets/..\\..\\wire.py",
        "/assets//etc/passwd",
        "/../wire.py",
        "/api/items/..%2f..%2f..%2fetc%2fpasswd/image",
        "/api/items//etc/passwd/image",
        "/api/export/..%2f..%2fetc%2fpasswd",
    ],
)
def test_paths_cannot_climb_out(visit: Callable[..., TestClient], path: str) -> None:
    reply = visit("owner").get(path)
    assert reply.status_code in (404, 405)
    assert "root:" not in reply.text
    assert "pydantic" not in reply.text


def test_markup_in_item_text_stays_text(visit: Callable[..., TestClient], session: Session) -> None:
    owner = visit("owner")
    session.change_settings("owner", {"learning": {"question": "label"}})
    rows = owner.get("/api/dashboard").json()
    listed = [item["text"] for key in ("most_positive", "most_negative", "most_uncertain") for item in rows[key]]
    reply = owner.get("/api/question")
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert all("&lt;" not in text for text in listed)


def test_every_response_carries_the_security_headers(app: Any, visit: Callable[..., TestClient]) -> None:
    owner = visit("owner")
    replies = [
        owner.get("/"),
        owner.get("/api/me"),
        owner.get("/api/nothing"),
        anonymous(app).get("/api/me"),
        anonymous(app).get("/", headers={"host": "evil.example"}),
        owner.post("/api/undo", content="x"),
    ]
    for reply in replies:
        assert {name: reply.headers.get(name) for name in SECURITY_HEADERS} == SECURITY_HEADERS
    policy = SECURITY_HEADERS["content-security-policy"]
    assert "unsafe-inline" not in policy
    assert "default-src 'none'" in policy
    assert SECURITY_HEADERS["referrer-policy"] == "no-referrer"
    assert owner.get("/api/me").headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("address", "sent"),
    [("http://127.0.0.1:8000", True), ("http://192.168.0.7:8000", False), ("https://192.168.0.7", True)],
)
def test_the_opener_policy_is_sent_only_where_browsers_accept_it(session: Session, address: str, sent: bool) -> None:
    client = TestClient(create_app(session, bind="0.0.0.0"), base_url=address)
    assert client.get("/api/me").headers.get("cross-origin-opener-policy") == ("same-origin" if sent else None)


# Rate limits


def test_the_limit_goes_by_token(session: Session, tokens: Tokens) -> None:
    app = create_app(session, tokens=tokens, limit=RateLimit(rate=0.001, burst=3))
    ann, bob = (tokens.issue("annotator", name, name)[0] for name in ("ann", "bob"))
    client = anonymous(app)
    statuses = [client.get("/api/me", headers={"authorization": f"Bearer {ann}"}).status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    assert client.get("/api/me", headers={"authorization": f"Bearer {bob}"}).status_code == 200
    refused = client.get("/api/me", headers={"authorization": f"Bearer {ann}"})
    assert int(refused.headers["retry-after"]) >= 1


def test_nobody_makes_the_server_learn_everything_again_and_again(
    visit: Callable[..., TestClient], session: Session
) -> None:
    ann, bob = visit("annotator", "digging"), visit("annotator", "working")

    def answered(person: TestClient) -> str:
        question = person.get("/api/question").json()["question"]
        assert person.post("/api/answers", json=body_for(question)).status_code == 200
        return str(question["id"])

    for _ in range(CHEAP_UNDO + 1):
        answered(bob)
    for _ in range(3):
        assert bob.post("/api/undo", json={}).status_code == 200, "one's last answers are cheap"
    seen = []
    for _ in range(21):
        old = answered(ann)
        session.desk.changes_after, before = lambda seq: CHEAP_UNDO + 1, session.desk.changes_after  # type: ignore[method-assign]
        seen.append(ann.post("/api/undo", json={"question_id": old}))
        session.desk.changes_after = before  # type: ignore[method-assign]
    assert [reply.status_code for reply in seen] == [200] * 20 + [429]
    assert int(seen[-1].headers["retry-after"]) > 1
    assert "too often" in seen[-1].json()["error"]


def test_twenty_pictures_count_as_one_request(session: Session, tokens: Tokens) -> None:
    app = create_app(session, tokens=tokens, limit=RateLimit(rate=0.001, burst=3))
    client, ann = anonymous(app), {"authorization": f"Bearer {tokens.issue('annotator', 'ann', 'ann')[0]}"}
    statuses = [client.get("/api/items/i1/image", headers=ann).status_code for _ in range(60)]
    assert set(statuses) == {404}, "these items have no pictures"
    assert client.get("/api/items/i1/image", headers=ann).status_code == 429
    strangers = [client.get("/api/items/i1/image").status_code for _ in range(4)]
    assert strangers == [401, 401, 401, 429]


def test_a_bucket_fills_again() -> None:
    now = [0.0]
    limit = RateLimit(rate=2.0, burst=2.0, clock=lambda: now[0])
    assert [limit.wait_s("a") for _ in range(3)] == [0, 0, 0.5]
    now[0] = 0.5
    assert limit.wait_s("a") == 0
    assert limit.wait_s("a") > 0


def test_the_guard_passes_on_what_is_not_http() -> None:
    import asyncio

    seen = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    guard = Guard(inner, tokens=None, cookie="c", host_allowed=lambda host: False, limit=RateLimit())  # type: ignore[arg-type]
    asyncio.run(guard({"type": "lifespan"}, None, None))  # type: ignore[arg-type]
    assert seen == ["lifespan"]


HTML = {"accept": "text/html,application/xhtml+xml"}


def test_people_read_pages_and_programs_read_json(app: Any, tokens: Tokens) -> None:
    person = anonymous(app)
    bad = person.get("/?token=nonsense", headers=HTML)
    assert (bad.status_code, bad.headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert "This link does not work" in bad.text
    assert "{" not in bad.text
    lost = person.get("/no/such/<b>page</b>", headers=HTML)
    assert lost.status_code == 404
    assert "There is no such page" in lost.text
    assert "<b>" not in lost.text
    assert person.get("/no/such/page").json() == {"error": "Not Found"}
    assert list(person.get("/api/question").json()) == ["error"]
    assert "Open the link that was printed or sent to you." in person.get("/api/question", headers=HTML).text


def test_a_revoked_link_says_so(app: Any, tokens: Tokens) -> None:
    token, row = tokens.issue("annotator", "p-gone", "Gone")
    person = anonymous(app)
    person.get(f"/?token={token}")
    tokens.revoke([row.id])
    assert "was revoked" in person.get("/api/me").json()["error"]
    assert "was revoked" in person.get(f"/?token={token}", headers=HTML).text
    assert "was revoked" not in anonymous(app).get("/api/me").json()["error"]


def test_nobody_becomes_somebody_else_without_being_asked(visit: Callable[..., TestClient], tokens: Tokens) -> None:
    owner = visit()
    token, _ = tokens.issue("annotator", "p-kim", "<i>Kim</i>")
    asked = owner.get(f"/?token={token}", headers=HTML, follow_redirects=False)
    assert asked.status_code == 200
    assert "Continue as &lt;i&gt;Kim&lt;/i&gt;?" in asked.text
    assert owner.get("/api/me").json()["role"] == "owner"
    for guess in ("", "yes", "0" * 32):
        owner.get(f"/?token={token}&sure={guess}", headers=HTML, follow_redirects=False)
        assert owner.get("/api/me").json()["role"] == "owner", "no link from elsewhere can confirm it"
    assert owner.get(f"/?token={token}", follow_redirects=False).status_code == 409, "nor does a program go on silently"
    address = html.unescape(re.search(r'href="(/\?token=[^"]+)"', asked.text)[1])  # type: ignore[index]
    owner.get(address, headers=HTML, follow_redirects=False)
    assert owner.get("/api/me").json()["participant"] == "p-kim"
