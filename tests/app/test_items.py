"""Looking at the items: found, filtered, explained and labelled."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from starlette.testclient import TestClient

from tellmore.app.exports import EXPORTS
from tellmore.app.glance import glance_at
from tellmore.app.items import ItemFinder
from tellmore.app.session import Session
from tellmore.app.view import FullView
from tellmore.pool import Pool

ALL = {"search": "", "sort": "pool", "show": "all", "low": 0.0, "high": 1.0, "limit": 100, "offset": 0}


@pytest.fixture
def owner(visit: Callable[..., TestClient]) -> TestClient:
    return visit()


def listed(owner: TestClient, **query: Any) -> dict[str, Any]:
    reply = owner.get("/api/items", params={"limit": 100, **query})
    assert reply.status_code == 200, reply.text
    return dict(reply.json())


def ids(page: dict[str, Any]) -> list[str]:
    return [row["id"] for row in page["rows"]]


def test_a_label_of_ones_own_choice_is_learnt_and_is_no_check(session: Session, owner: TestClient) -> None:
    assert owner.post("/api/labels", json={"item": "i7", "positive": True}).json() == {"done": True}
    view = session.settled_view()
    assert view.learner.labels() == {"i7": True}
    assert view.learner.tally.checks == ()
    (asked,) = session.desk.asked.values()
    assert (asked.why, asked.check, asked.participant) == ("direct", False, "owner")
    assert session.question("owner").question.id != asked.question.id, "it does not stay open"
    assert owner.post("/api/labels", json={"item": "nobody", "positive": True}).status_code == 422


def test_items_are_found_by_text_in_any_case(owner: TestClient) -> None:
    assert set(ids(listed(owner, search=" TEXT 5 "))) == {"i5", *(f"i5{digit}" for digit in range(10))}
    assert listed(owner, search="nothing like it") == {"rows": [], "total": 0}


def test_items_are_sorted_and_paged(session: Session, owner: TestClient) -> None:
    for item, told in (("i3", True), ("i4", False), ("i9", True)):
        session.label("owner", item, told)
    p = session.settled_view().probability
    by_rows = {
        "likely": np.argsort(-p),
        "unlikely": np.argsort(p),
        "unsure": np.argsort(np.abs(p - 0.5)),
        "pool": range(60),
    }
    for sort, rows in by_rows.items():
        assert ids(listed(owner, sort=sort)) == [f"i{row}" for row in rows], sort
    pages = [listed(owner, sort="likely", limit=25, offset=offset) for offset in (0, 25, 50)]
    assert [item for page in pages for item in ids(page)] == ids(listed(owner, sort="likely"))
    assert [page["total"] for page in pages] == [60] * 3
    certain = listed(owner, low=0.5, high=1.0)
    assert {row["probability"] >= 0.5 for row in certain["rows"]} == {True}
    assert certain["total"] == int(np.sum(p >= 0.5))


def test_answers_filter_the_list(session: Session, owner: TestClient) -> None:
    for item, told in (("i3", True), ("i4", False)):
        session.label("owner", item, told)
    session.settled_view()
    answered = listed(owner, show="answered")
    assert {row["id"]: row["label"] for row in answered["rows"]} == {"i3": True, "i4": False}
    assert listed(owner, show="unanswered")["total"] == 58
    for _ in range(12):  # label it until the belief agrees; the last label then contradicts it
        session.label("owner", "i3", True)
    session.label("owner", "i3", False)
    assert session.settled_view().probability[3] > 0.5
    assert ids(listed(owner, show="disagreeing")) == ["i3"]


def test_why_names_the_answered_items_most_alike(session: Session, owner: TestClient, pool: Pool) -> None:
    told = [f"i{row}" for row in range(10, 30)]
    for item in told:
        session.label("owner", item, True)
    view = session.settled_view()
    found = owner.get("/api/items/i10/why").json()
    Z = view.learner.coordinates.into(pool.X)
    order = sorted(told[1:], key=lambda item: float(np.linalg.norm(Z[int(item[1:])] - Z[10])))
    assert found["item"]["id"] == "i10"
    assert [row["id"] for row in found["nearest"]] == order[:6]
    assert owner.get("/api/items/nobody/why").status_code == 404


def test_why_of_an_item_before_any_answer(owner: TestClient) -> None:
    assert owner.get("/api/items/i10/why").json()["nearest"] == []


def test_the_list_follows_what_was_learnt(session: Session, pool: Pool) -> None:
    finder = ItemFinder(pool)
    before = finder.page(session.settled_view(), {}, **{**ALL, "sort": "likely"})
    session.label("owner", before.rows[0].id, False)
    after = finder.page(session.settled_view(), {}, **{**ALL, "sort": "likely"})
    assert [row.id for row in after.rows] != [row.id for row in before.rows]


def test_a_glance_shows_items_nobody_was_asked_about(session: Session, pool: Pool) -> None:
    for row in range(20):
        session.label("owner", f"i{row}", row % 2 == 0)
    view = session.settled_view()
    seen = glance_at(pool, view)
    assert seen is not None
    free = np.arange(20, 60)
    order = free[np.argsort(view.mean[20:], kind="stable")]
    assert [item.id for item in seen.least] == [f"i{row}" for row in order[:4]]
    assert [item.id for item in seen.most] == [f"i{row}" for row in order[::-1][:4]]
    assert seen.unsure.id == f"i{free[np.argmin(np.abs(view.mean[20:]))]}"
    for row in range(20, 55):
        session.label("owner", f"i{row}", True)
    asked = seen.most[0].id
    without = glance_at(pool, view, [asked])
    assert without is not None
    assert asked not in {item.id for item in (*without.most, *without.least, without.unsure)}, "it is being asked now"
    assert glance_at(pool, session.settled_view()) is None, "too few are left to show"


def test_a_glance_calls_nothing_positive_that_is_predicted_negative(session: Session, pool: Pool) -> None:
    session.label("owner", "i0", True)
    view = session.settled_view()
    for above in (0, 1, 3, 59):
        score = np.sort(pool.X[:, 0])[::-1]
        score = score - (score[above] + score[above - 1]) / 2 if above else score - score[0] - 1
        seen = glance_at(pool, cast("FullView", SimpleNamespace(learner=view.learner, mean=score)))
        assert seen is not None
        most, least = ([int(item.id[1:]) for item in side] for side in (seen.most, seen.least))
        unsure = min(range(1, 60), key=lambda row: abs(score[row]))
        assert seen.unsure.id == f"i{unsure}"
        assert most == [row for row in range(1, 60) if score[row] > 0 and row != unsure][:4]
        assert least == [row for row in range(59, 0, -1) if score[row] < 0 and row != unsure][:4]


def test_every_export_says_what_it_is_for(owner: TestClient) -> None:
    offered = owner.get("/api/exports").json()
    assert len(offered) == len(EXPORTS)
    for one in offered:
        assert one["install"] is None
        assert one["use"].endswith(".")
        assert owner.get(one["path"]).status_code == 200, one["path"]


@pytest.mark.parametrize("format", ["onnx", "sklearn", "npz"])
def test_the_code_that_uses_a_classifier_runs(
    owner: TestClient, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    [snippet] = [one["snippet"] for one in owner.get("/api/exports").json() if one["path"] == f"/api/export/{format}"]
    reply = owner.get(f"/api/export/{format}")
    name = reply.headers["content-disposition"].split('"')[1]
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(reply.content)
    np.save("new.npy", session.pool.X[:3])
    used: dict[str, Any] = {}
    exec(snippet, used)
    assert len(used["score" if format == "npz" else "probability"]) == 3


def test_what_is_not_installed_names_the_command_that_adds_it(
    owner: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    offered = {one["path"]: one["install"] for one in owner.get("/api/exports").json()}
    assert offered["/api/export/onnx"] == "pip install 'tellmore[onnx]'"
    assert offered["/api/export/npz"] is None
    refused = owner.get("/api/export/onnx")
    assert refused.status_code == 501
    assert "pip install 'tellmore[onnx]'" in refused.json()["error"]


def test_the_snippets_run(
    session: Session, owner: TestClient, pool: Pool, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.label("owner", "i1", True)
    expected = session.settled_view()
    monkeypatch.chdir(tmp_path)
    np.save("new.npy", pool.X)
    for one in owner.get("/api/exports").json():
        if one["snippet"] is None:
            continue
        reply = owner.get(one["path"])
        name = reply.headers["content-disposition"].split('"')[1]
        (tmp_path / name).write_bytes(reply.content)
        scope: dict[str, Any] = {}
        exec(one["snippet"], scope)
        if "probability" in scope:
            called = np.ravel(scope["probability"]) > 0.5
        else:
            called = scope["score"] > 0
        assert np.mean(called == (expected.mean > 0)) > 0.95, one["title"]
