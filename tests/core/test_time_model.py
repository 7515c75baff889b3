"""Seconds of one kind of question: forms, marks, the floor, and answers drawn around the mean."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellmore.core.time_model import FORMS, TimeModel, basis
from tellmore.errors import InputError


@pytest.mark.parametrize(
    ("form", "at_4"), [("constant", 1.0), ("linear", 9.0), ("logarithmic", 5.0), ("quadratic", 33.0)]
)
def test_forms(form: str, at_4: float) -> None:
    assert TimeModel(form, 1.0, 2.0).seconds(4) == pytest.approx(at_4)  # type: ignore[arg-type]


def test_the_basis_of_several_sizes_at_once() -> None:
    assert basis("quadratic", [2, 3]).tolist() == [4.0, 9.0]
    assert basis("constant", [2, 3]).tolist() == [0.0, 0.0]


def test_never_below_the_floor() -> None:
    assert TimeModel("linear", -20.0, 1.0).seconds(3) == 0.5


@given(
    form=st.sampled_from(FORMS),
    size=st.integers(1, 24),
    share=st.floats(0, 1),
    b=st.tuples(*[st.floats(0, 9)] * 3),
    factor=st.floats(0.2, 5),
)
def test_marks_are_a_term_of_their_own(
    form: str, size: int, share: float, b: tuple[float, float, float], factor: float
) -> None:
    """By the definition, with as many marks as there were, or as are expected."""
    model = TimeModel(form, 1 + b[0], b[1], per_mark=b[2], mark_share=share)  # type: ignore[arg-type]
    shown = {"constant": 0.0, "linear": size, "logarithmic": math.log2(size), "quadratic": size**2}[form]
    for marks in (0, size):
        seconds = model.seconds(size, marks)
        assert seconds == pytest.approx(1 + b[0] + b[1] * shown + b[2] * marks)
        assert model.scaled(factor).seconds(size, marks) == pytest.approx(max(factor * seconds, 0.5))
    assert model.seconds(size) == pytest.approx(model.seconds(size, share * size))


def test_marks_do_not_count_where_the_model_has_no_term_for_them() -> None:
    plain = TimeModel("linear", 4.0, 1.0)
    assert not plain.counts_marks
    assert plain.terms(3, 2) == (1.0, 3.0, 0.0)
    assert plain.seconds(3, 2) == plain.seconds(3, 0) == plain.seconds(3)


def test_samples_have_the_mean_that_their_marks_make() -> None:
    model, rng = TimeModel("linear", 2.0, 0.5, spread_s=3.0, per_mark=1.5), np.random.default_rng(0)
    times = np.array([model.sample(8, rng, 5) for _ in range(40_000)])
    assert times.min() > 0
    assert times.mean() == pytest.approx(2.0 + 0.5 * 8 + 1.5 * 5, rel=0.01)
    assert times.std() == pytest.approx(3.0, rel=0.05)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"form": "cubic"}, "forms are constant, linear"),
        ({"intercept": math.nan}, "intercept"),
        ({"per_mark": math.inf}, "per_mark"),
        ({"spread_s": -1.0}, "spread_s >= 0"),
        ({"floor_s": 0.0}, "floor_s > 0"),
    ],
)
def test_bad_models_are_refused(fields: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        TimeModel(**{"form": "linear", "intercept": 1.0, **fields})  # type: ignore[arg-type]


def test_a_question_shows_something() -> None:
    with pytest.raises(InputError, match="at least 1 item"):
        TimeModel("linear", 1.0).seconds(0)
