"""Quick checks of a kind, run whenever one is registered. `tellmore.contract` also checks learning, asking, saving and
simulating.
"""

from __future__ import annotations

import json
from dataclasses import fields
from itertools import islice

import numpy as np

from tellmore.core.evidence import Behaviour
from tellmore.core.time_model import TimeModel
from tellmore.errors import AnswerError, QuestionError, TellmoreError
from tellmore.kinds.contract import Kind, Words
from tellmore.types import Answer

ATTRIBUTES = ("name", "family", "title", "ask", "help", "time", "answer_type")
MAX_CHECKED = 200


def check_kind(kind: Kind) -> None:
    """Raise QuestionError unless ``kind`` has all its parts and they fit together on its smallest question."""
    if not isinstance(kind, Kind):
        raise QuestionError(f"a question kind is an object of a subclass of tellmore.Kind, not {kind!r}")
    missing = [name for name in ATTRIBUTES if not hasattr(kind, name)]
    require(not missing, kind, f"lacks {', '.join(missing)}")
    require(kind.name.isidentifier(), kind, "needs a name of letters, digits and underscores")
    require(1 <= kind.fewest <= kind.usual <= kind.most, kind, "needs fewest <= usual <= most, from 1 on")
    require(isinstance(kind.time, TimeModel), kind, "needs a TimeModel as its time")
    require(
        isinstance(kind.answer_type, type) and issubclass(kind.answer_type, Answer) and bool(kind.answer_type.type),
        kind,
        "needs an answer_type: a subclass of tellmore.Answer with a type of its own",
    )
    try:
        check_answers(kind, max(kind.fewest, 1))
        check_plain_values(kind, kind.fewest)
        check_words(kind, kind.fewest)
    except TellmoreError:
        raise
    except Exception as problem:
        raise QuestionError(f"question kind {getattr(kind, 'name', kind)!r} fails: {problem!r}") from problem


def check_answers(kind: Kind, k: int) -> None:
    """Check that the number of outcomes is right, that their probabilities sum to one, and that they survive conversion to an
    answer and to JSON."""
    items = tuple(f"item{i}" for i in range(k))
    behaviour, z = Behaviour(w=2.0, K=3.0), np.random.default_rng(0).standard_normal((5, k))
    n = kind.n_outcomes(k)
    few = list(islice(kind.outcomes(k), MAX_CHECKED))
    if n <= MAX_CHECKED:
        require(len(few) == n == len(set(few)), kind, f"lists {len(set(few))} outcomes of {n}")
        total = np.exp([kind.log_likelihood(z, one, behaviour) for one in few]).sum(axis=0)
        require(np.allclose(total, 1.0, atol=1e-10), kind, f"has outcome probabilities that sum to {total}, not to 1")
    extremes = [kind.log_likelihood(scale * z, one, behaviour) for scale in (-1e3, 1e3) for one in few]
    require(bool(np.isfinite(extremes).all()), kind, "overflows for scores in the hundreds")
    for outcome in few:
        answer = kind.answer(items, outcome)
        require(isinstance(answer, kind.answer_type), kind, f"has answers of type {type(answer).__name__}")
        kind.check(items, answer)
        again = kind.outcome(items, answer)
        require(again == outcome, kind, f"turns outcome {outcome} into an answer and back into {again}")
        read = kind.answer_type.from_json(json.loads(json.dumps(answer.as_json())))
        require(read == answer, kind, f"writes the answer {answer} to JSON and reads it back as {read}")
        plain = tuple(getattr(answer, each.name) for each in fields(answer))  # type: ignore[arg-type]
        told = kind.from_plain(plain if len(plain) > 1 else plain[0])
        require(told == answer, kind, f"reads the plain value {plain} as {told}, not as {answer}")
        require(set(kind.labels(items, answer)) <= set(items), kind, "labels items that were not shown")
        require(not kind.labels_all or set(kind.labels(items, answer)) == set(items), kind, "does not label every item")
        require(0 <= kind.marks(answer) <= k, kind, f"counts {kind.marks(answer)} marks on {k} items")


def check_plain_values(kind: Kind, k: int) -> None:
    """Check that a value that cannot be an answer is refused with AnswerError."""
    items = tuple(f"item{i}" for i in range(k))
    for value in (None, 0.5, object(), {"item0": True}, "never shown", ["item0", "never shown"], ("item0",) * 9):
        try:
            kind.check(items, kind.from_plain(value))
        except AnswerError:
            continue
        require(False, kind, f"accepts {value!r} as an answer")


def check_words(kind: Kind, k: int) -> None:
    """Check the texts: title, headline, help, and an answer in one line that names its items as people saw them."""
    words = Words("odd", "odd", "even")
    items = tuple(f"item{i}" for i in range(k))
    for name, text in (("title", kind.title), ("headline", kind.headline(words)), ("help", kind.instructions(words))):
        require(bool(text.strip()) and "{" not in text and "\n" not in text, kind, f"has no usable {name}: {text!r}")
    outcome = next(iter(kind.outcomes(k)))
    told = kind.tell(items, kind.answer(items, outcome), lambda item: item.upper(), words)
    require("ITEM" in told and "\n" not in told, kind, f"describes an answer as {told!r}")


def require(holds: bool, kind: Kind, message: str) -> None:
    """Raise QuestionError with the kind's name and ``message`` unless the condition holds."""
    if not holds:
        raise QuestionError(f"question kind {kind.name!r} {message}")
