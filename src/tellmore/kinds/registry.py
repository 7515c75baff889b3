"""The registered kinds of question: tellmore's own, and those of installed packages.

A package offers a kind by an entry point in the group ``tellmore.kinds`` that names the object::

    [project.entry-points."tellmore.kinds"]
    best_worst = "mypackage.best_worst:BEST_WORST"
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

from tellmore.errors import AnswerError, QuestionError
from tellmore.kinds.check import check_kind
from tellmore.kinds.contract import Kind
from tellmore.kinds.label import LABEL
from tellmore.kinds.rank import RANK
from tellmore.kinds.select import SELECT_HIGH, SELECT_LOW
from tellmore.kinds.sure import LEAST_SURE, MOST_SURE
from tellmore.kinds.tick import TICK
from tellmore.types import Answer, Skip

GROUP = "tellmore.kinds"
BUILT_IN: tuple[Kind, ...] = (LABEL, SELECT_HIGH, SELECT_LOW, RANK, TICK, MOST_SURE, LEAST_SURE)


class Registry:
    """Kinds by name. Those of installed packages are looked up when first needed."""

    def __init__(self, kinds: tuple[Kind, ...] = BUILT_IN) -> None:
        self._kinds = {kind.name: kind for kind in kinds}
        self._looked = False

    def register(self, kind: Kind) -> Kind:
        """Add a kind of question, so that learners, simulations and the app can use it, and return it.

        kind: the kind; QuestionError, and no change, if it breaks the rules of `Kind` or its name is taken.

        >>> from tellmore.kinds.label import LABEL
        >>> Registry(()).register(LABEL) is LABEL
        True
        """
        check_kind(kind)
        if self._kinds.get(kind.name, kind) is not kind:
            raise QuestionError(f"a question kind {kind.name!r} is already registered; give the new one another name")
        taken = {one.answer_type.type: one.answer_type for one in self._kinds.values()} | {Skip.type: Skip}
        if taken.get(kind.answer_type.type, kind.answer_type) is not kind.answer_type:
            raise QuestionError(
                f"question kind {kind.name!r} calls its answers {kind.answer_type.type!r}, as another kind already does"
            )
        self._kinds[kind.name] = kind
        return kind

    def all(self) -> tuple[Kind, ...]:
        """Every kind, tellmore's own first."""
        self._look()
        return tuple(self._kinds.values())

    def named(self, name: Any) -> Kind:
        """The kind of this name; QuestionError if there is none."""
        if isinstance(name, str) and name not in self._kinds:
            self._look()
        if not isinstance(name, str) or name not in self._kinds:
            raise QuestionError(f"unknown question kind {name!r}; the kinds are {', '.join(self._kinds)}")
        return self._kinds[name]

    def family(self, name: Any) -> tuple[Kind, ...]:
        """The kinds of a family, or the one kind of this name; QuestionError if there is neither."""
        members = tuple(kind for kind in self.all() if kind.family == name)
        return members or (self.named(name),)

    def single(self) -> Kind:
        """The kind that labels one item, which random checks use if no other kind fits."""
        return next(kind for kind in self._kinds.values() if kind.most == 1 and kind.labels_all)

    def answer_from_json(self, plain: Any) -> Answer:
        """The answer from a log or from HTTP, by its type; AnswerError if it is not one."""
        if not isinstance(plain, Mapping):
            raise AnswerError(f"an answer is an object with a type, not {plain!r}")
        types = {kind.answer_type.type: kind.answer_type for kind in self.all()} | {Skip.type: Skip}
        named = plain.get("type", "")
        answer_type = types.get(named) if isinstance(named, str) else None
        if answer_type is None:
            raise AnswerError(f"unknown type of answer {named!r}; the types are {', '.join(types)}")
        return answer_type.from_json(plain)

    def _look(self) -> None:
        """Register the kinds that installed packages offer, once."""
        if self._looked:
            return
        self._looked = True
        for entry in entry_points(group=GROUP):
            try:
                self.register(entry.load())
            except Exception as problem:
                self._looked = False
                raise QuestionError(
                    f"the question kind {entry.name!r} ({entry.value}) cannot be used: {problem}; fix or uninstall its package"
                ) from problem
