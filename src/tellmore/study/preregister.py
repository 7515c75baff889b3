"""A pre-registration: the design, the exclusions and the analysis of a study as a text, written before anyone takes part.

Its fingerprints identify the study file and the question file; every participant's row has that of the study file.
"""

from __future__ import annotations

import hashlib

from tellmore import kinds
from tellmore.study.analysis import PERSON_STEPS
from tellmore.study.plots import noun
from tellmore.study.settings import Study


def preregistration(study: Study, questions: bytes, *, version: str) -> str:
    """The text in Markdown; ``questions``: the content of the question file."""
    sections = (
        ("Fingerprints", _fingerprints(study, questions, version)),
        ("Hypotheses", [_hypothesis(kind) for kind in study.design.kinds]),
        ("Design", _design(study)),
        ("Participants", _participants(study)),
        ("Exclusions", _exclusions()),
        ("Analysis", _analysis()),
        ("Anything else", ["Please add: what is not covered above, and whether any data exist already."]),
    )
    text = [f"# Pre-registration: {study.title}"]
    for title, lines in sections:
        text += ["", f"## {title}", "", *(f"- {line}" for line in lines)]
    return "\n".join(text) + "\n"


def _fingerprints(study: Study, questions: bytes, version: str) -> list[str]:
    return [
        f"Study file (SHA-256 of its settings): {study.fingerprint}",
        f"Question file (SHA-256): {hashlib.sha256(questions).hexdigest()}",
        f"Software: tellmore {version}",
    ]


def _hypothesis(name: str) -> str:
    first, second = kinds.named(name).time_forms
    marks = " and with the items marked" if kinds.named(name).time.counts_marks else ""
    return (
        f"{noun(name)}: mean time grows with the number of items in a {first} way{marks}, rather than a {second} one."
    )


def _design(study: Study) -> list[str]:
    design = study.design
    sizes = "; ".join(f"{noun(kind)} {', '.join(map(str, design.sizes_for(kind)))}" for kind in design.kinds)
    stages = ", ".join(f"{stage.name} (questions {stage.first} to {stage.last})" for stage in study.stages)
    return [
        f"Kinds of question: {', '.join(map(noun, design.kinds))}; {design.questions_per_kind} of each.",
        f"One block for each kind; order of the blocks: {design.order}.",
        f"Items shown: {sizes}; balanced over participants.",
        f"Strata of a simulated learning run: {stages}; balanced over participants.",
        f"Gold questions in each block, at {', '.join(map(str, design.gold_positions))}: "
        + "; ".join(" > ".join(gold.order) for gold in study.gold) + ".",
        f"Seed of all random choices: {design.seed}.",
    ]  # fmt: skip


def _participants(study: Study) -> list[str]:
    recruitment, pay = study.recruitment, study.pay
    planned = "not stated; see tellmore study power" if recruitment.participants is None else recruitment.participants
    return [
        f"Planned number: {planned}. No one is replaced after the data have been looked at.",
        *(f"Screener: {screener}" for screener in recruitment.screeners),
        f"Comprehension check: {len(study.comprehension)} questions, {study.comprehension_attempts} attempts.",
        f"Pay for a complete participation: {pay.amount:g} {pay.currency}.",
    ]


def _exclusions() -> list[str]:
    return [
        *(f"Participants, for each kind: {reason}." for reason in PERSON_STEPS),
        "Answers: gold questions, skips, and times that are missing, not positive or longer than a day. No other time is "
        "removed, however long.",
    ]


def _analysis() -> list[str]:
    return [
        "Least squares of seconds on the number of items (and marks, if the kind counts them), on single answers.",
        "Errors clustered by participant, 95 % intervals by Student's t with participants - 1 degrees of freedom: these decide.",
        "For comparison: errors of independent answers, and a mixed model with an intercept and a slope for each participant.",
        "Vuong's test between the two forms of each kind, and an F test of the learning stage beyond set size, both clustered "
        "by participant, two-sided at 5 %.",
    ]
