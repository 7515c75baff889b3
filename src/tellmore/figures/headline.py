"""The default compared with the strongest baseline of each kind of question: the first lines of the results page.

The strongest is the method and scale of the prior that needs the fewest answers, by the rule in `tellmore.figures.baselines`;
nothing here is written by hand.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tellmore.figures import paper
from tellmore.figures.claims_learning import METHODS, Source, runs
from tellmore.figures.curves import MARKS_S, reach_text
from tellmore.figures.methods import in_order
from tellmore.figures.paired import Runs, saved
from tellmore.rows import Row, Rows, where

LEAST_SEEDS = 20
"""A baseline with fewer trials is not called the strongest."""
MARK_S = 600
"""Seconds of human time after which accuracies are shown next to the first crossings."""
BASELINE_PARTS = ("methods", "strongest")


def strongest(source: Source, setting: str) -> Row | None:
    """The baseline that needs the fewest answers for a kind of question, on chosen items or, if a method has none, on random
    ones."""
    family = setting.split("-")[0]
    rows = [row for part in BASELINE_PARTS for row in where(source("baselines"), part=part)]
    of_kind = [
        row for row in rows if row["mode"] in METHODS and str(row["setting"]).split(",")[0].split("-")[0] == family
    ]
    able = [row for row in of_kind if row["seeds"] >= LEAST_SEEDS]
    return min(able, key=lambda row: float(row["interactions_at_least"]), default=None)


def headline_rows(source: Source) -> list[Row]:
    """For each setting of Table I: the default, the strongest baseline, and the share of answers and seconds saved."""
    found = []
    for setting in paper.CHOSEN:
        own = where(source("baselines"), part="methods", mode="default", setting=setting)
        best = strongest(source, setting)
        if not own or best is None:
            continue
        row: Row = {"pool": own[0]["pool"], "setting": setting, "paper": paper.COUNT_WORDS[setting]}
        row |= {"baseline": best["mode"], "baseline_setting": best["setting"], "scale": best["scale"]}
        row |= {"baseline_answers": reach_text(best), "baseline_seeds": best["seeds"]}
        row |= {"default_answers": reach_text(own[0]), "default_seeds": own[0]["seeds"]}
        for what, one in (("baseline", best), ("default", own[0])):
            row |= {f"{what}_lasting_s": one["lasting_s"], f"{what}_accuracy": one[f"accuracy_{MARK_S}_s"]}
        for measure in ("interactions", "seconds"):
            share = saved(runs(source, "default", setting, measure), _of(source, best, measure))
            row |= {f"{measure}_saved": share.value, f"{measure}_low": share.low, f"{measure}_high": share.high}
            row["note"] = share.reason
        found.append({name: None if isinstance(v, float) and math.isnan(v) else v for name, v in row.items()})
    return found


def _of(source: Source, best: Row, measure: str) -> Runs:
    chosen = {name: best[name] for name in ("mode", "setting", "scale")}
    return Runs.of(where(source("baselines"), part=f"{best['part']}, trials", **chosen), measure)


def share_text(row: Row, measure: str) -> str:
    """A saved share with its interval; open ends are in words."""
    value, low, high = (row[f"{measure}_{end}"] for end in ("saved", "low", "high"))
    if value is None:
        return "not known"
    ends = ("less" if math.isinf(low) else f"{low:.0%}", "more" if math.isinf(high) else f"{high:.0%}")
    return f"{value:.0%} ({ends[0]} to {ends[1]})"


def headline_table(rows: Rows) -> tuple[list[str], list[list[str]]]:
    """Header and body of the comparison with the strongest baseline."""
    header = [
        "answers to 75 %",
        "the paper prints",
        "strongest baseline here",
        "default here",
        "answers saved",
        "seconds saved",
        f"accuracy after {MARK_S} s",
        "the mean stays at 75 % from",
    ]
    body = [
        [
            row["setting"],
            row["paper"],
            f"{row['baseline_answers']} ({row['baseline']}, prior {row['scale']:g} I / D, {row['baseline_seeds']} seeds)",
            f"{row['default_answers']} ({row['default_seeds']} seeds)",
            share_text(row, "interactions"),
            share_text(row, "seconds"),
            _both(row, "accuracy", lambda value: f"{value:.1%}"),
            _both(row, "lasting_s", lambda value: f"{value:.0f} s"),
        ]
        for row in rows
    ]
    return header, body


def headline_sentence(rows: Rows) -> str:
    """The comparison with the strongest baseline in a sentence."""
    told = [f"{row['default_answers']} ({row['setting']}) instead of {row['baseline_answers']}" for row in rows]
    seeds = min(row["default_seeds"] for row in rows)
    return (
        f"Answers to 75 % right on the paper's task (mean ± standard error, {seeds} seeds), compared with the strongest of "
        f"the paper's methods: {', '.join(told)}."
    )


def _both(row: Row, measure: str, text: Callable[[float], str]) -> str:
    """A measure of the baseline and of the default, as text."""
    values = [row[f"{what}_{measure}"] for what in ("baseline", "default")]
    return " → ".join("–" if value is None else text(value) for value in values)


def methods_table(source: Source) -> tuple[list[str], list[list[str]]]:
    """Every method in every setting: first crossings, lasting crossings, and the accuracy at fixed seconds."""
    header = ["mode", "prior", "question", "seeds", "first reached after", "the paper", "the mean stays there from"]
    header += [f"accuracy in % at {mark} s" for mark in MARKS_S]
    body = []
    for row in in_order(where(source("baselines"), part="methods")):
        lasting = "not within the trials" if row["lasting_s"] is None else f"{row['lasting_s']:.0f} s"
        accuracies = [_accuracy(row, mark) for mark in MARKS_S]
        prior = "the pool's" if row["scale"] is None else f"{row['scale']:g} I / D"
        first = [row["mode"], prior, row["setting"], str(row["seeds"]), reach_text(row), row["printed"] or "–", lasting]
        body.append([*first, *accuracies])
    return header, body


def scales_table(source: Source) -> tuple[list[str], list[list[str]]]:
    """The result for each scale of the prior; trials stop at the target, so there is no lasting crossing."""
    rows = in_order(where(source("scales"), part="scales"))
    scales = sorted({float(row["scale"]) for row in rows})
    body = []
    for mode, setting in dict.fromkeys((row["mode"], row["setting"]) for row in rows):
        own = {float(row["scale"]): row for row in where(rows, mode=mode, setting=setting)}
        cells = [_swept(own[scale]) if scale in own else "" for scale in scales]
        body.append([mode, setting, *cells, paper.COUNT_WORDS[setting]])
    return ["mode", "question", *(f"{scale:g} I / D" for scale in scales), "the paper"], body


def _swept(row: Row) -> str:
    """Answers to the target, the accuracy after a fixed time, and the number of seeds."""
    return f"{reach_text(row)}; {_accuracy(row, MARK_S)} %; n = {row['seeds']}"


def _accuracy(row: Row, mark: int) -> str:
    value, se = row[f"accuracy_{mark}_s"], row[f"accuracy_{mark}_s_se"]
    return "–" if value is None else f"{100 * value:.1f}" + ("" if se is None else f" ± {100 * se:.1f}")
