"""What a kind of question must provide, and one executable check of it.

An *outcome* is an answer by position among the k items shown: ``y`` = +-1 for a label, ``(i, y)`` for a selection,
``(order, n_positive)`` for a ranking. A further kind is one file with an object that passes ``check_question_kind``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, TypeAlias

import numpy as np

from tellmore.core.evidence import Behaviour, Evidence
from tellmore.errors import TellmoreError
from tellmore.types import Answer, Array, Question

Outcome: TypeAlias = Any


class QuestionKind(Protocol):
    """One kind of question. Scores z are theta'(1, x) of the items shown; B behaviours and rng are explicit."""

    @property
    def name(self) -> str:
        """The kind's name in questions and settings."""

    def n_outcomes(self, k: int) -> int:
        """How many different answers k items allow."""

    def outcomes(self, k: int) -> Iterator[Outcome]:
        """All of them, lazily."""

    def log_likelihood(self, z: Array, outcome: Outcome, behaviour: Behaviour) -> Array:
        """log P(outcome | z) in nats, z [..., k] -> [...]; sums to one over the outcomes (eqs. 1-6)."""

    def sample(self, z: Array, behaviour: Behaviour, rng: np.random.Generator) -> Outcome:
        """A random answer of a person whose scores are z [k]."""

    def gain_nats(self, z: Array, behaviour: Behaviour, rng: np.random.Generator) -> tuple[Array, Array]:
        """Information gain of B sets from N joint draws of their scores, z [B, N, k]: gains [B] and their errors [B]."""

    def evidence(self, outcome: Outcome, k: int) -> Evidence:
        """The labels and choices that an update learns from."""

    def outcome(self, question: Question, answer: Answer) -> Outcome:
        """An answer, by position."""

    def answer(self, question: Question, outcome: Outcome) -> Answer:
        """An outcome, by ids."""


def check_question_kind(kind: QuestionKind, *, sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    """Raise TellmoreError unless ``kind`` keeps its promises on small questions of these sizes."""
    for k in sizes:
        behaviour = Behaviour(w=2.0, K=3.0)
        outcomes = list(kind.outcomes(k))
        question = Question(kind.name, [f"item{i}" for i in range(k)])  # type: ignore[arg-type]
        _require(len(outcomes) == kind.n_outcomes(k), kind, f"lists {len(outcomes)} outcomes of {kind.n_outcomes(k)}")
        z = rng.standard_normal((5, k))
        total = np.exp([kind.log_likelihood(z, o, behaviour) for o in outcomes]).sum(axis=0)
        _require(np.allclose(total, 1.0, atol=1e-10), kind, f"has outcome probabilities that sum to {total}, not to 1")
        extremes = [kind.log_likelihood(scale * z, o, behaviour) for scale in (-1e3, 1e3) for o in outcomes]
        _require(bool(np.isfinite(extremes).all()), kind, "overflows for scores in the hundreds")
        for outcome in outcomes:
            again = kind.outcome(question, kind.answer(question, outcome))
            _require(again == outcome, kind, f"turns outcome {outcome} into an answer and back into {again}")
            evidence = kind.evidence(outcome, k)
            _require(evidence.labels.shape == (k,), kind, "gives evidence of another size")
            _require(bool(evidence.labels.any()) or bool(evidence.chosen.size), kind, "gives no evidence")
        drawn = kind.sample(z[0], behaviour, rng)
        _require(drawn in outcomes, kind, f"samples {drawn}, which is not among its outcomes")
        gains, errors = kind.gain_nats(rng.standard_normal((3, 256, k)), behaviour, rng)
        limit = np.log(kind.n_outcomes(k)) + 4 * errors
        _require(
            bool((gains >= -4 * errors - 1e-12).all() and (gains <= limit + 1e-12).all()), kind, f"gains {gains} nats"
        )


def _require(holds: bool, kind: QuestionKind, message: str) -> None:
    if not holds:
        raise TellmoreError(f"question kind {kind.name!r} {message}")
