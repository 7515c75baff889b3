"""Claims on learning: interactions and seconds to a target, and learning curves, in every mode that has rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from tellmore.figures.verdict import Allowed, Estimate, about, claim_row
from tellmore.rows import Row, Rows, column, distinct, where

Source = Callable[[str], Rows]
"""The rows of an exhibit by name; none where it is not at hand."""
CURVE_MODES = ("paper", "default")
PRINTED_COUNTS = {"rank-4": 191, "rank-4, random": 315, "select-4": 468, "select-4, random": 700, "label": 1310}
COST_AWARE = "Cost-aware questions save more than 57 % of the time of labels."
SAVERS = ("select-4", "rank-4", "auto")
AT_ANSWER = 200
"""Curves are compared here: early enough for no trial to have stopped, late enough for strategies to differ."""


def _reached(source: Source) -> dict[str, dict[str, Row]]:
    """Rows to 75 % by mode and setting, of the most seeds at hand."""
    rows: dict[str, dict[str, Row]] = {}
    for row in [*source("table1"), *source("headline"), *(r for r in source("baselines") if r["part"] == "methods")]:
        known = rows.setdefault(row["mode"], {})
        if row["setting"] not in known or row["seeds"] >= known[row["setting"]]["seeds"]:
            known[row["setting"]] = row
    return rows


def _mean(row: Row | None, measure: str) -> Estimate:
    """Mean over seeds of a measure, where every seed reached the target."""
    if row is None:
        return Estimate.missing("not rerun in this mode")
    seeds, reached = row["seeds"], row["reached"]
    if reached < seeds:
        return Estimate.missing(
            f"{reached} of {seeds} seeds reached 75 %, the others not within {row['longest']} answers"
        )
    if row.get(measure) is None:
        return Estimate.missing(f"{measure} of this mode are not stored; not rerun")
    return Estimate.of(row[measure], row[f"{measure}_se"], seeds, f"{seeds} seeds, first crossings")


def _saved(few: Row | None, many: Row | None, measure: str) -> Estimate:
    """1 - few / many, by the errors of both; the stored rows do not say which seed is which."""
    a, b = _mean(few, measure), _mean(many, measure)
    if few is None or many is None or a.value is None or b.value is None:
        return Estimate.missing(a.reason if a.value is None else f"labels: {b.reason}")
    ratio = a.value / b.value
    relative = math.hypot(few[f"{measure}_se"] / a.value, many[f"{measure}_se"] / b.value)
    return Estimate.of(1 - ratio, ratio * relative, few["seeds"], f"{few['seeds']} seeds, errors of both added")


def _fewer(few: Row | None, many: Row | None) -> Estimate:
    """many - few interactions, by the errors of both."""
    a, b = _mean(few, "interactions"), _mean(many, "interactions")
    if few is None or many is None or a.value is None or b.value is None:
        return Estimate.missing(a.reason if a.value is None else b.reason)
    se = math.hypot(few["interactions_se"], many["interactions_se"])
    return Estimate.of(b.value - a.value, se, few["seeds"], f"difference, {few['seeds']} seeds, errors of both added")


def counts(source: Source) -> Iterator[Row]:
    for mode, rows in _reached(source).items():
        counted = PRINTED_COUNTS if mode != "default" else {}  # printed of the paper's method, not of the default
        for setting, printed in counted.items():
            sentence = f"{setting} reaches 75 % after {printed} interactions."
            yield claim_row("III-B", sentence, mode, _mean(rows.get(setting), "interactions"), about(printed))
        rank, select, label = (rows.get(name) for name in ("rank-4", "select-4", "label"))
        yield claim_row(
            "III-B", "Rankings need fewer interactions than selections to 75 %.", mode, _fewer(rank, select)
        )
        yield claim_row("III-B", "Selections need fewer interactions than labels to 75 %.", mode, _fewer(select, label))
        if mode != "default":
            beyond = _mean(rows.get("label, random"), "interactions")
            yield claim_row(
                "III-B", "label, random needs more than 2000 interactions.", mode, beyond, Allowed(low=2000)
            )
            sentence = "Rank-4 needs about 85 % fewer interactions than labels to 75 %."
            yield claim_row("III-B", sentence, mode, _saved(rank, label, "interactions"), about(0.85))
    yield from (
        claim_row("Abstract", f"{COST_AWARE} ({row['setting']}, {row['pool']})", row["mode"], own, Allowed(low=0.57))
        for row, own in savings(source)
        if row["mode"] == row["labels"]
    )


def savings(source: Source) -> Iterator[tuple[Row, Estimate]]:
    """Seconds saved against labels: mode, labels (whose they are), pool and setting, and the share that is saved.

    Within default mode seeds are paired; elsewhere the errors of both sides are added.
    """
    for row in source("times"):
        within = {"mode": "default", "labels": "default", "pool": row["pool"], "setting": row["setting"]}
        if row["setting"] in SAVERS:
            estimate = Estimate.of(
                1 - row["to_label"], row["to_label_se"], row["seeds"], f"{row['seeds']} paired seeds"
            )
            yield within, estimate
    words = [row for row in source("times") if row["to_paper_label"] is not None]
    labels = next((row for row in words if row["setting"] == "label, paper mode"), None)
    for row in words if labels is not None else ():
        if row["setting"] in SAVERS:
            across = {"mode": "default", "labels": "paper", "pool": row["pool"], "setting": row["setting"]}
            yield across, _saved(row, labels, "seconds")
    for mode, rows in _reached(source).items():
        for name in SAVERS if mode != "default" else ():
            if name not in rows:
                continue
            own = {"mode": mode, "labels": mode, "pool": "SocialSent 2000s, word2vec", "setting": name}
            yield own, _saved(rows.get(name), rows.get("label"), "seconds")


def _at(rows: Rows, setting: str, answer: int) -> Row | None:
    own = [row for row in where(rows, setting=setting) if row["answer"] <= answer]
    return own[-1] if own else None


def _lower(better: Row | None, worse: Row | None, where_: str) -> Estimate:
    """MSE of ``worse`` minus that of ``better``, by the errors of both."""
    if better is None or worse is None or better["mse_se"] is None:
        return Estimate.missing("not rerun in this mode")
    se = math.hypot(better["mse_se"], worse["mse_se"])
    reason = f"difference of MSE {where_}, {better['seeds']} seeds, errors of both added"
    return Estimate.of(worse["mse"] - better["mse"], se, better["seeds"], reason)


def curves(source: Source) -> Iterator[Row]:
    for mode in CURVE_MODES:
        rows = where(source("fig3"), mode=mode)
        after = f"after {AT_ANSWER} answers"
        for name in ("label", "select-4", "rank-4"):
            active, random = (_at(rows, setting, AT_ANSWER) for setting in (name, f"{name}, random"))
            yield claim_row("III-B", f"Choosing items actively boosts {name}.", mode, _lower(active, random, after))
        sentence = "Selection between two active items beats ranking two random ones."
        two, ranked = (_at(rows, setting, AT_ANSWER) for setting in ("select-2", "rank-2, random"))
        yield claim_row("III-B", sentence, mode, _lower(two, ranked, after))
    yield claim_row(
        "III-B",
        "After 1000 selections the MSE is about 20 % lower with 10 options than with 2.",
        "paper",
        _options(source("fig4")),
        about(0.2),
    )
    yield from _in_time(source("fig12"))


def _options(rows: Rows) -> Estimate:
    two, ten = (_at(rows, f"select-{size}", 1000) for size in (2, 10))
    if two is None or ten is None or ten["answer"] < 1000:
        return Estimate.missing("trials are shorter than 1000 answers")
    ratio = ten["mse"] / two["mse"]
    se = ratio * math.hypot(ten["mse_se"] / ten["mse"], two["mse_se"] / two["mse"])
    return Estimate.of(1 - ratio, se, two["seeds"], f"{two['seeds']} seeds, errors of both added")


def _in_time(rows: Rows) -> Iterator[Row]:
    """Fig. 12: the MSE at the last moment that all curves know."""
    names = distinct(rows, "setting")
    common = min((max(column(where(rows, setting=name), "seconds")) for name in names), default=0.0)
    last = {name: [row for row in where(rows, setting=name) if row["seconds"] <= common] for name in names}
    end = {name: own[-1] for name, own in last.items() if own}
    after = f"after {common:.0f} s"
    sentence = "In time, selection of 10 learns more slowly than of 3."
    yield claim_row("III-C", sentence, "paper", _lower(end.get("select-3"), end.get("select-10"), after))
    for name in ("label", "select-3", "select-10"):
        sentence = f"In time, ranking of 10 leads {name}."
        yield claim_row("III-C", sentence, "paper", _lower(end.get("rank-10"), end.get(name), after))
