"""Claims about learning: interactions and seconds to a target, and learning curves, in every mode that has rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from tellmore.figures import paper
from tellmore.figures.baselines import AUTOS, MODES, PAIRS
from tellmore.figures.curves import MARKS_S
from tellmore.figures.methods import AT_ANSWER
from tellmore.figures.paired import Runs, difference, each_of, fewer, mean, saved, smallest
from tellmore.figures.verdict import Allowed, Estimate, about, claim_row
from tellmore.rows import Row, Rows, column, distinct, where
from tellmore.types import Array

Source = Callable[[str], Rows]
"""The rows of an exhibit by name; none if it is not available."""
COST_AWARE = "Cost-aware questions save more than 57 % of the time of labels."
METHODS = tuple(mode for mode in MODES if mode != "default")
WORDS = "SocialSent 2000s, word2vec"
AFTER = f"MSE after {AT_ANSWER} answers"


def modes(source: Source, among: Sequence[str] = MODES) -> list[str]:
    """The modes that have trials."""
    known = {row["mode"] for row in where(source("baselines"), part="methods, trials")}
    return [mode for mode in among if mode in known]


def runs(source: Source, mode: str, setting: str, measure: str, part: str = "methods") -> Runs:
    """The trials of a mode in a setting, by seed."""
    return Runs.of(where(source("baselines"), part=f"{part}, trials", mode=mode, setting=setting), measure)


def labels_of(source: Source, mode: str, measure: str) -> Runs:
    """The labels that a mode asks for: of chosen items, or of random ones if it chooses none."""
    return runs(source, mode, _labels(source, mode), measure)


def _labels(source: Source, mode: str) -> str:
    chosen = where(source("baselines"), part="methods, trials", mode=mode, setting=paper.LABELS)
    return paper.LABELS if chosen else paper.RANDOM[0]


def lasting_and_marks(source: Source, mode: str, setting: str) -> Row:
    """What is shown with every first crossing: from when the mean accuracy of a setting stays at the target, and its value after
    fixed times."""
    own = where(source("baselines"), part="methods", mode=mode, setting=setting)
    names = ("lasting_s", *(f"accuracy_{mark}_s" for mark in MARKS_S))
    return {name: own[0].get(name) if own else None for name in names}


def _with_times(estimate: Estimate, source: Source, mode: str, *settings: str) -> Estimate:
    """The estimate, with the lasting crossings and the accuracies of these settings in its words."""
    if estimate.value is None:
        return estimate
    said = "; ".join(times_text(lasting_and_marks(source, mode, setting), setting) for setting in settings)
    return replace(estimate, reason=f"{estimate.reason}; {said}")


def times_text(row: Row, setting: str) -> str:
    """The lasting crossing and the accuracies of a setting in words.

    >>> times_text({"lasting_s": 3657.2, "accuracy_300_s": 0.585, "accuracy_600_s": 0.639, "accuracy_1800_s": None}, "label")
    'label stays there from 3657 s, 58.5 / 63.9 / – % at 300 / 600 / 1800 s'
    """
    lasting = row["lasting_s"]
    stays = "does not stay there" if lasting is None else f"stays there from {lasting:.0f} s"
    values = [row[f"accuracy_{mark}_s"] for mark in MARKS_S]
    shares = " / ".join("–" if value is None else f"{100 * value:.1f}" for value in values)
    return f"{setting} {stays}, {shares} % at {' / '.join(map(str, MARKS_S))} s"


def counts(source: Source) -> Iterator[Row]:
    """Interactions to 75 %, as printed in Table I and Section III-B, and their order."""
    for mode in modes(source, METHODS):
        for setting in paper.SETTINGS:
            if (mode, setting) == ("as-authors", paper.LABELS):
                continue  # their code asks only for labels of random items
            own = _with_times(mean(runs(source, mode, setting, "interactions")), source, mode, setting)
            printed = paper.COUNTS[setting]
            section = "Table I" if setting in paper.CHOSEN else "III-B"
            if setting == paper.RANDOM[0]:
                sentence, allowed = f"{setting} needs more than {printed} interactions to 75 %.", Allowed(low=printed)
            else:
                sentence, allowed = f"{setting} reaches 75 % after {printed} interactions.", about(printed)
            yield claim_row(section, sentence, mode, own, allowed)
            if setting in paper.TEXT_COUNTS:
                printed = paper.TEXT_COUNTS[setting]
                sentence = f"{setting} reaches 75 % after {printed} interactions, as the text has it."
                yield claim_row("III-B", sentence, mode, own, about(printed))
        rank = runs(source, mode, paper.RANKINGS, "interactions")
        share = saved(rank, labels_of(source, mode, "interactions"))
        share = _with_times(share, source, mode, paper.RANKINGS, _labels(source, mode))
        for section, sentence, printed in (
            ("III-B", "Rank-4 needs about 85 % fewer interactions than labels to 75 %.", 0.85),
            ("Intro", "Up to 85 % fewer human interactions than active labelling.", 0.85),
        ):
            yield claim_row(section, sentence, mode, share, about(printed))
    for mode in modes(source):
        rank, select = (runs(source, mode, name, "interactions") for name in (paper.RANKINGS, paper.SELECTIONS))
        labels = labels_of(source, mode, "interactions")
        for sentence, few, many, names in (
            (
                "Rankings need fewer interactions than selections to 75 %.",
                rank,
                select,
                (paper.RANKINGS, paper.SELECTIONS),
            ),
            (
                "Selections need fewer interactions than labels to 75 %.",
                select,
                labels,
                (paper.SELECTIONS, _labels(source, mode)),
            ),
        ):
            yield claim_row("III-B", sentence, mode, _with_times(fewer(few, many), source, mode, *names))
    for row, own in savings(source):
        if row["mode"] == row["labels"]:
            own = _told(row, own)
            sentence = f"{COST_AWARE} ({row['setting']}, {row['pool']})"
            yield claim_row("Abstract", sentence, row["mode"], own, Allowed(low=0.57))
            if row["pool"] == WORDS:
                half = f"Cost-aware questions save more than half of the time of labels. ({row['setting']})"
                yield claim_row("Intro", half, row["mode"], own, Allowed(low=0.5))


def savings(source: Source) -> Iterator[tuple[Row, Estimate]]:
    """Seconds saved compared with labels: mode, the mode of the labels, pool and setting, and the share saved.

    First on the paper's words within every mode, then the default compared with the labels of every method, then the default
    on further pools. Seeds are always paired. The rows also have the lasting crossings and the accuracies after fixed times.
    """
    sets = (paper.SELECTIONS, paper.RANKINGS)
    ours = (*sets, *AUTOS)
    within = [(mode, mode, setting) for mode in modes(source) for setting in (ours if mode == "default" else sets)]
    across = [("default", mode, setting) for mode in modes(source, METHODS) for setting in ours]
    for mode, labels, setting in (*within, *across):
        share = saved(runs(source, mode, setting, "seconds"), labels_of(source, labels, "seconds"))
        times = lasting_and_marks(source, mode, setting), lasting_and_marks(source, labels, _labels(source, labels))
        yield {"mode": mode, "labels": labels, "pool": WORDS, "setting": setting, **_times(*times)}, share
    for row in source("grid"):
        if row["setting"] in ours and row["pool"] != WORDS and row.get("to_label") is not None:
            of_labels = where(source("grid"), pool=row["pool"], setting=paper.LABELS)[0]
            both = (
                {"lasting_s": one.get("lasting_s"), "accuracy_600_s": one.get("accuracy_600")}
                for one in (row, of_labels)
            )
            own = {"mode": "default", "labels": "default", "pool": row["pool"], "setting": row["setting"]}
            yield {**own, **_times(*both)}, _to_label(row, of_labels)


SAVED_MARK_S = 600


def _times(own: Row, labels: Row) -> Row:
    names = ("lasting_s", f"accuracy_{SAVED_MARK_S}_s")
    return {name: own[name] for name in names} | {f"labels_{name}": labels[name] for name in names}


def _told(row: Row, own: Estimate) -> Estimate:
    """The share saved, with the lasting crossings and the accuracies in its words."""
    stays, share = saving_times(row)
    return replace(own, reason=f"{own.reason}; stays from {stays} (labels → this), {share} at {SAVED_MARK_S} s")


def saving_times(row: Row) -> tuple[str, str]:
    """The lasting crossing, and the accuracy after ten minutes, of labels and of what is compared with them."""
    lasting, accuracy = (
        [row[f"{what}{name}"] for what in ("labels_", "")] for name in ("lasting_s", f"accuracy_{SAVED_MARK_S}_s")
    )
    return (
        " → ".join("not within the trials" if value is None else f"{value:.0f} s" for value in lasting),
        " → ".join("–" if value is None else f"{100 * value:.1f} %" for value in accuracy),
    )


def _to_label(row: Row, labels: Row) -> Estimate:
    """The share of the seconds of labels that a row of a further pool saves; the interval is open if trials were too short."""
    reason = f"to {row['target']:.0%}, {row['seeds']} paired seeds"
    short = [one["seeds"] - one["reached"] for one in (row, labels)]
    if any(short):
        reason += f", {short[0]} and {short[1]} of them too short, counted with their length"
    estimate = Estimate.of(1 - row["to_label"], row["to_label_se"] or 0.0, row["seeds"], reason)
    low, high = (-math.inf if short[0] else estimate.low), (math.inf if short[1] else estimate.high)
    return replace(estimate, low=low, high=high)


def _of(estimate: Estimate, what: str) -> Estimate:
    return replace(estimate, reason=f"{what}, {estimate.reason}")


def _at(rows: Rows, setting: str, answer: int) -> Row | None:
    own = [row for row in where(rows, setting=setting) if row["answer"] <= answer]
    return own[-1] if own else None


def _lower(better: Row | None, worse: Row | None, where_: str) -> Estimate:
    """MSE of ``worse`` minus that of ``better``, seed by seed."""
    if better is None or worse is None:
        return Estimate.missing("not rerun in this mode")
    return difference(each_of(worse, "mse_each") - each_of(better, "mse_each"), f"difference of MSE {where_}")


def curves(source: Source) -> Iterator[Row]:
    """Whether choosing items, and showing more of them, helps: by the MSE of single trials after the same number of answers."""
    for mode in modes(source):
        for chosen, random in zip(paper.CHOSEN, paper.RANDOM, strict=True):
            if (mode, chosen) == ("as-authors", paper.LABELS):
                continue
            gain = fewer(*(runs(source, mode, name, "mse") for name in (chosen, random)))
            sentence = f"Choosing items actively boosts {chosen}."
            yield claim_row("III-B", sentence, mode, _of(gain, AFTER))
        rank, select = (runs(source, mode, name, "mse") for name in (paper.RANKINGS, paper.SELECTIONS))
        for sentence, better, worse in (
            ("Rankings reduce the MSE faster than selections.", rank, select),
            ("Selections reduce the MSE faster than labels.", select, labels_of(source, mode, "mse")),
        ):
            yield claim_row("III-B", sentence, mode, _of(fewer(better, worse), AFTER))
        sentence = "All strategies reduce the MSE."
        falls = {name: 2 - own for name in paper.SETTINGS if (own := _values(runs(source, mode, name, "mse"))).size}
        yield claim_row("III-B", sentence, mode, smallest(falls, f"2, that of a random direction, minus {AFTER}"))
    yield from _pairs(source)
    yield from _options(source("fig4"))
    yield from _images(source("fig5"))
    yield from _in_time(source("fig12"))


def _values(own: Runs) -> Array:
    return own.on(sorted(own.values))


def _pairs(source: Source) -> Iterator[Row]:
    """Two items against two random ones, and four against two."""
    for mode in PAIRS:
        two = {
            name: runs(source, mode, name, "mse", "pairs")
            for family in paper.SETS
            for name in (paper.titled(family, 2), paper.titled(family, 2, random=True))
        }
        selected, ranked = paper.titled(paper.SELECT, 2), paper.titled(paper.RANK, 2, random=True)
        sentence = "Selection between two active items beats ranking two random ones."
        yield claim_row("III-B", sentence, mode, _of(fewer(two[selected], two[ranked]), AFTER))
        for family in paper.SETS:
            gain = fewer(runs(source, mode, paper.titled(family, paper.SIZE), "mse"), two[paper.titled(family, 2)])
            sentence = f"Larger sets accelerate learning: {family} of 4 against 2."
            yield claim_row("III-B", sentence, mode, _of(gain, AFTER))


def _mode(rows: Rows) -> str:
    """The mode of a figure with one mode."""
    return str(rows[0]["mode"]) if rows else METHODS[0]


def _options(rows: Rows) -> Iterator[Row]:
    """Fig. 4: the MSE after 1000 selections by the number of options."""
    names = distinct(rows, "setting")
    last = {name: row for name in names if (row := _at(rows, name, 1000)) is not None and row["answer"] == 1000}
    each = {name: each_of(row, "mse_each") for name, row in last.items()}
    two, ten = (Runs(dict(enumerate(each.get(paper.titled(paper.SELECT, size), [])))) for size in (2, 10))
    sentence = "After 1000 selections the MSE is about 20 % lower with 10 options than with 2."
    yield claim_row("III-B", sentence, _mode(rows), saved(ten, two), about(0.2))
    steps = {f"{one} minus {other}": each[one] - each[other] for one, other in pairwise(each)}
    sentence = "The larger the set, the faster the MSE falls."
    yield claim_row("Fig. 4", sentence, _mode(rows), smallest(steps, "difference of MSE after 1000 selections"))


def _images(rows: Rows) -> Iterator[Row]:
    """Fig. 5: the order of the kinds on images, by the accuracy after as many answers as all have."""
    for mode in distinct(rows, "mode"):
        own = where(rows, mode=mode)
        answer = min(int(where(own, setting=name)[-1]["answer"]) for name in paper.CHOSEN)
        at = {name: each_of(where(own, setting=name, answer=answer)[0], "accuracy_each") for name in paper.CHOSEN}
        for better, worse in ((paper.RANKINGS, paper.SELECTIONS), (paper.SELECTIONS, paper.LABELS)):
            lead = difference(at[better] - at[worse], f"difference of accuracy after {answer} answers")
            sentence = f"Images: accuracy increases faster with {better} than with {worse} (OASIS, in place of AVA)."
            yield claim_row("III-B", sentence, mode, lead)


def _in_time(rows: Rows) -> Iterator[Row]:
    """Fig. 12: the MSE after the last answer and at the last time that all curves reach."""
    names = distinct(rows, "setting")
    three, ten, ranked = paper.titled(paper.SELECT, 3), paper.titled(paper.SELECT, 10), paper.titled(paper.RANK, 10)
    leads = []
    for axis, phrase, unit in (("answer", "In interactions", " answers"), ("seconds", "In time", " s")):
        common = min((max(column(where(rows, setting=name), axis)) for name in names), default=0.0)
        known = {name: [row for row in where(rows, setting=name) if row[axis] <= common] for name in names}
        end = {name: own[-1] for name, own in known.items() if own}
        after = f"after {common:.0f}{unit}"
        pair = (three, ten) if axis == "seconds" else (ten, three)
        sentence = f"{phrase}, selection of {pair[0].split('-')[1]} learns faster than of {pair[1].split('-')[1]}."
        yield claim_row("III-C", sentence, _mode(rows), _lower(end.get(pair[0]), end.get(pair[1]), after))
        for name in (paper.LABELS, three, ten):
            sentence = f"{phrase}, ranking of 10 leads {name}."
            yield claim_row("III-C", sentence, _mode(rows), _lower(end.get(ranked), end.get(name), after))
        labels, best = (each_of(end.get(name, {}), "mse_each") for name in (paper.LABELS, ranked))
        leads.append(labels - best)
    gain = difference(leads[0] - leads[1], "difference of the two leads in MSE")
    yield claim_row("III-C", "Ranking of 10 gains less over labels in time than in interactions.", _mode(rows), gain)
