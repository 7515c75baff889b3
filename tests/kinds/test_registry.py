"""Registering kinds: what is refused, in one line and without a change, and kinds that installed packages offer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from tellmore.core.evidence import Behaviour
from tellmore.errors import AnswerError, QuestionError
from tellmore.kinds import Registry
from tellmore.types import Answer, Array
from tests.kinds import alike
from tests.kinds.alike import ALIKE, AlikeAnswer, AlikeKind


@dataclass(frozen=True)
class Forgetful(Answer):
    """Loses what it says on the way through JSON."""

    type: ClassVar[str] = "forgetful"
    alike: bool

    def as_json(self) -> dict[str, Any]:
        return {"type": self.type, "alike": True}


class ForgetfulKind(AlikeKind):
    answer_type = Forgetful  # type: ignore[assignment]

    def answer(self, items: Any, outcome: bool) -> Any:
        return Forgetful(outcome)


class Unsure(AlikeKind):
    def log_likelihood(self, z: Array, outcome: bool, behaviour: Behaviour) -> Array:
        return np.asarray(super().log_likelihood(z, outcome, behaviour) - 0.1)


class Overflowing(AlikeKind):
    def log_likelihood(self, z: Array, outcome: bool, behaviour: Behaviour) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.exp(super().log_likelihood(z, outcome, behaviour))))


class Miscounting(AlikeKind):
    def n_outcomes(self, k: int) -> int:
        return 3


class Swapping(AlikeKind):
    def outcome(self, items: Any, answer: AlikeAnswer) -> bool:
        return not answer.alike


class Silent(AlikeKind):
    ask = " "


class Misspelt(AlikeKind):
    ask = "Are both {colour}?"


class Nameless(AlikeKind):
    name = "not a name"


class Endless(AlikeKind):
    fewest = 3


class Timeless(AlikeKind):
    time = 5.0  # type: ignore[assignment]


class Failing(AlikeKind):
    def answer(self, items: Any, outcome: bool) -> Any:
        raise ZeroDivisionError("no such thing")


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (ForgetfulKind(), "to JSON and reads it back"),
        (Unsure(), "probabilities that sum to"),
        (Overflowing(), "overflows"),
        (Miscounting(), "lists 2 outcomes of 3"),
        (Swapping(), "and back into"),
        (Silent(), "no usable headline"),
        (Misspelt(), "colour"),
        (Nameless(), "letters, digits and underscores"),
        (Endless(), "fewest <= usual <= most"),
        (Timeless(), "needs a TimeModel"),
        (Failing(), "no such thing"),
        ("rank", "subclass of tellmore.Kind, not 'rank'"),
    ],
)
def test_a_broken_kind_is_refused_and_nothing_changes(
    broken: Any, says: str, registry: Registry, one_line: Callable[[BaseException], str]
) -> None:
    before = registry.all()
    with pytest.raises(QuestionError) as problem:
        registry.register(broken)
    assert says in one_line(problem.value)
    assert registry.all() == before


def test_a_kind_without_a_part_is_refused(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(AlikeKind, "help")
    with pytest.raises(QuestionError, match="question kind 'alike' lacks help"):
        registry.register(AlikeKind())


def test_a_kind_is_registered_once(registry: Registry) -> None:
    assert registry.register(ALIKE) is ALIKE
    assert registry.register(ALIKE) is ALIKE, "the same object again changes nothing"
    before = registry.all()
    assert [kind.name for kind in before].count("alike") == 1
    with pytest.raises(QuestionError, match="'alike' is already registered; give the new one another name"):
        registry.register(AlikeKind())
    assert registry.all() == before
    assert registry.named("alike") is ALIKE


def test_two_kinds_do_not_call_their_answers_the_same(registry: Registry) -> None:
    @dataclass(frozen=True)
    class Label(AlikeAnswer):
        type: ClassVar[str] = "label"

    class Impostor(AlikeKind):
        name = "impostor"
        answer_type = Label

        def answer(self, items: Any, outcome: bool) -> AlikeAnswer:
            return Label(outcome)

    before = registry.all()
    with pytest.raises(QuestionError, match="calls its answers 'label', as another kind already does"):
        registry.register(Impostor())
    assert registry.all() == before


def test_what_is_unknown_is_named_with_what_is_known(registry: Registry) -> None:
    with pytest.raises(QuestionError, match=r"unknown question kind 'sort'; the kinds are label, select_high, .*tick"):
        registry.named("sort")
    with pytest.raises(QuestionError, match="'sort'"):
        registry.family("sort")
    with pytest.raises(
        AnswerError, match="unknown type of answer 'sort'; the types are label, select, rank, tick, skip"
    ):
        registry.answer_from_json({"type": "sort"})
    assert [kind.name for kind in registry.family("select")] == ["select_high", "select_low"]


def installed(folder: Path, source: str, value: str) -> None:
    """A tiny installed package that offers a kind."""
    (folder / "pair_question.py").write_text(source)
    info = folder / "pair_question-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pair-question\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[tellmore.kinds]\nalike = {value}\n")


def in_another_process(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_installed_package_offers_a_kind_by_an_entry_point(tmp_path: Path) -> None:
    installed(tmp_path, Path(alike.__file__).read_text(), "pair_question:ALIKE")
    done = in_another_process(
        tmp_path,
        "from tellmore import Question, kinds; print(kinds.named('alike').title, Question('alike', ['a', 'b']).size,"
        " kinds.answer_from_json({'type': 'alike', 'alike': True}), len(kinds.all_kinds()))",
    )
    assert done.stderr == ""
    assert done.stdout.split() == ["Alike", "2", "AlikeAnswer(alike=True)", "8"]


@pytest.mark.parametrize(
    ("source", "value"), [("raise OSError('no disk')", "pair_question:ALIKE"), ("ALIKE = 3", "pair_question:ALIKE")]
)
def test_a_package_whose_kind_is_broken_is_named(tmp_path: Path, source: str, value: str) -> None:
    installed(tmp_path, source, value)
    done = in_another_process(
        tmp_path, "from tellmore import kinds; print(kinds.named('label').name); kinds.all_kinds()"
    )
    assert done.stdout == "label\n"
    assert "the question kind 'alike' (pair_question:ALIKE) cannot be used" in done.stderr.splitlines()[-1]
    assert done.stderr.splitlines()[-1].endswith("fix or uninstall its package")
