"""The whole contract: every included kind satisfies it, and so does one that only has a likelihood; it can fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tellmore as tm
from tellmore.contract import check_question_kind
from tellmore.core.evidence import Behaviour
from tellmore.core.gain import Gain
from tellmore.core.gaussian import Gaussian
from tellmore.core.time_model import TimeModel
from tellmore.core.update import UpdateInfo
from tellmore.errors import QuestionError
from tellmore.kinds import Registry, all_kinds, named
from tests.kinds.alike import ALIKE, AlikeKind


@pytest.mark.parametrize("name", [kind.name for kind in all_kinds()])
def test_every_kind_keeps_the_contract(name: str) -> None:
    check_question_kind(named(name), sizes=(1,) if name == "label" else (2, 3, 4))


def test_so_does_one_that_has_a_likelihood_and_nothing_else(registry: Registry) -> None:
    registry.register(ALIKE)
    check_question_kind(ALIKE)


class Backwards(AlikeKind):
    def update(self, prior: Gaussian, X: Any, outcome: bool, behaviour: Behaviour, **options: Any) -> Any:
        after, info = super().update(prior, X, outcome, behaviour, **options)
        return after.with_mean(2 * prior.mean - after.mean), info


class Indifferent(AlikeKind):
    def update(self, prior: Gaussian, X: Any, outcome: bool, behaviour: Behaviour, **options: Any) -> Any:
        return replace(prior, cov=9 * prior.cov), UpdateInfo((), 0.0, 0, 0.0, 0.0)


class Boastful(AlikeKind):
    def gain(self, mean: Any, cov: Any, behaviour: Behaviour, *, rng: Any, draws: int | None = None) -> Gain:
        return Gain(1.3 * super().gain(mean, cov, behaviour, rng=rng, draws=draws).bits)


class Impossible(AlikeKind):
    def gain(self, mean: Any, cov: Any, behaviour: Behaviour, *, rng: Any, draws: int | None = None) -> Gain:
        return Gain(5.0)


class Careless(AlikeKind):
    def sample(self, z: Any, behaviour: Behaviour, rng: np.random.Generator) -> bool:
        return bool(rng.random() < 0.5)


class Contrary(AlikeKind):
    def respond(self, seen: Any) -> bool:
        return not super().respond(seen)


class Hasty(AlikeKind):
    time = TimeModel("linear", 20.0, -1.0)


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (Backwards(), "sd from the exact one"),
        (Indifferent(), "of the exact spread"),
        (Boastful(), "bits, and enumeration gives"),
        (Impossible(), "has a gain of 5.000 bits; 0 to 1.000 are possible"),
        (Careless(), "other frequencies than its likelihood gives"),
        (Contrary(), "which is not the most likely answer"),
        (Hasty(), "takes 18 s for 2 items and 17 s for 3"),
    ],
)
def test_a_broken_promise_is_one_clear_error_and_nothing_changes(
    broken: AlikeKind, says: str, registry: Registry, one_line: Callable[[BaseException], str]
) -> None:
    registry.register(broken)
    before = registry.all()
    with pytest.raises(QuestionError, match="question kind 'alike'") as problem:
        check_question_kind(broken)
    assert says in one_line(problem.value)
    assert registry.all() == before


def test_a_kind_has_to_be_registered(registry: Registry) -> None:
    registry.register(ALIKE)
    with pytest.raises(QuestionError, match=r"is not registered; call tellmore\.register_kind"):
        check_question_kind(AlikeKind())
    assert "register_kind" in tm.__all__
