"""Routes for the people who run the server: its health, its load, and what its owners did."""

from __future__ import annotations

import logging
import time
from collections import Counter as Count
from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tellmore.app.logs import REQUESTS
from tellmore.app.session import Session
from tellmore.app.shared import REFUSALS, Owner, Shared, visitor_of
from tellmore.app.tokens import Visitor
from tellmore.app.wire_board import AuditOut
from tellmore.errors import StoreError
from tellmore.store.events import OWNERS_EVENTS, audit_event

log = logging.getLogger(__name__)

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
TEACHING = ("/api/answers", "/api/undo", "/api/labels", "/api/settings/preview", "/api/start/preview")
"""Requests of owners that are not recorded: those that everybody makes, and those that change nothing. Answers are in the log."""

operations = APIRouter(responses=REFUSALS)


@operations.get("/health", tags=["operations"], responses={503: {"description": "the database does not respond"}})
def health(shared: Shared) -> JSONResponse:
    """Whether the server works: 200, or 503 if its database does not respond. Needs no token and reveals nothing else."""
    try:
        shared.session.repository.keep_claim()
    except StoreError:
        return JSONResponse({"status": "no database"}, status_code=503)
    return JSONResponse({"status": "ok"})


@operations.get("/metrics", tags=["operations"], response_class=PlainTextResponse)
def metrics(request: Request) -> Response:
    """Counts and times for Prometheus. Needs the token of an owner, or of an invitation with the role `monitor`, as `Bearer`."""
    if visitor_of(request).role not in ("owner", "monitor"):
        raise HTTPException(403, "this is for the project's owner and its monitor")
    meter: Meter = request.scope["meter"]
    return Response(generate_latest(meter.registry), media_type=METRICS_TYPE)


@operations.get("/api/audit", tags=["owner"])
def audit(shared: Shared, _visitor: Owner, limit: Annotated[int, Query(ge=1, le=1000)] = 200) -> list[AuditOut]:
    """What owners have done: settings, invitations, exports, deletions; newest first."""
    done = list(shared.session.repository.since(kinds=OWNERS_EVENTS))[-limit:]
    return [
        AuditOut(seq=event.seq, t_utc=event.t_utc, who=event.participant, what=event.kind, details=event.payload)
        for event in reversed(done)
    ]


class Meter:
    """ASGI wrapper around everything: counts, times and logs requests, and records what owners do."""

    def __init__(self, app: ASGIApp, *, session: Session) -> None:
        self._app, self._session = app, session
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "tellmore_requests", "Requests answered.", ("method", "route", "status"), registry=self.registry
        )
        self._seconds = Histogram(
            "tellmore_request_seconds", "Seconds until a request was answered.", ("route",), registry=self.registry
        )
        self.registry.register(_Teaching(session))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, began = 500, time.perf_counter()

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        scope["meter"] = self
        try:
            await self._app(scope, receive, watched)
        finally:
            self._note(scope, status, time.perf_counter() - began)
        visitor: Visitor | None = scope.get("state", {}).get("visitor")
        if visitor is not None and visitor.role == "owner" and status < 400 and _worth_noting(scope):
            await run_in_threadpool(self._remember, scope, visitor)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "other")
        self._requests.labels(scope["method"], route, status).inc()
        if route != "/api/events":  # it stays open as long as the dashboard
            self._seconds.labels(route).observe(seconds)
        visitor: Visitor | None = scope.get("state", {}).get("visitor")
        said = {"method": scope["method"], "path": scope["path"], "status": status, "ms": round(1000 * seconds, 1)}
        REQUESTS.info("request", extra={**said, "participant": visitor.participant if visitor else None})

    def _remember(self, scope: Scope, visitor: Visitor) -> None:
        try:
            self._session.append(
                [audit_event(visitor.participant, f"{scope['method']} {scope['path']}", visitor.token_id)]
            )
        except StoreError as problem:
            log.warning("an owner's action could not be recorded: %s", problem)


def _worth_noting(scope: Scope) -> bool:
    path: str = scope["path"]
    if scope["method"] in ("GET", "HEAD"):
        return path.startswith("/api/export/")
    return path.startswith("/api/") and path not in TEACHING and not path.startswith("/api/study")


class _Teaching:
    """The state of the session as Prometheus metrics, read on request."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def collect(self) -> Iterator[Metric]:
        """All metrics, read at the same moment."""
        desk, planner = self._session.desk, self._session.planner
        with self._session.lock:
            asked = Count(each.why for each in desk.asked.values())
            given = Count(each.void or "counts" for each in desk.given.values())
            lately = desk.lately.shares()
            behind, out = desk.changes_after(planner.view.seq), len(self._session.questions_out())
        questions = CounterMetricFamily("tellmore_questions", "Questions issued, by reason.", labels=["why"])
        for why in sorted({"best", "check", "fallback", *asked}):
            questions.add_metric([why], asked[why])
        yield questions
        answers = CounterMetricFamily("tellmore_answers", "Answers and skips, by state.", labels=["state"])
        for state in sorted({"counts", "undo", *given}):
            answers.add_metric([state], given[state])
        yield answers
        for share, name, what in (
            (lately.random, "random", "random because nothing better was ready"),
            (lately.repeated, "repeated", "asked before, and not repeated on purpose"),
        ):
            yield GaugeMetricFamily(f"tellmore_{name}_share", f"Share of the last 200 questions: {what}.", value=share)
        yield GaugeMetricFamily("tellmore_questions_out", "Questions issued and not yet answered.", value=out)
        yield GaugeMetricFamily("tellmore_planner_behind", "Answers and undos not learnt yet.", value=behind)
        yield GaugeMetricFamily("tellmore_planner_failing", "1 if learning fails.", value=planner.failure is not None)
