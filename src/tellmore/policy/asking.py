"""Which questions may be asked: one kind, a family, or the best of several kinds; and how many items each shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tellmore import kinds as question_kinds
from tellmore.errors import SettingError
from tellmore.kinds import Kind
from tellmore.options import checked_size, several, whole_number

AUTO = "auto"
AUTO_SIZES = (2, 3, 4, 5, 6, 12)


@dataclass(frozen=True)
class Asking:
    """What to ask about a pool of ``n_items``: a kind, a family of kinds, or ``auto``: the most efficient of ``kinds``.

    ``set_size`` None: the usual number of items for the kind. ``sizes``: the numbers that ``auto`` chooses from, those of
    ``given_sizes`` that the pool allows.
    """

    question: str
    set_size: int | None
    kinds: tuple[str, ...]
    sizes: tuple[int, ...]
    n_items: int
    given_sizes: tuple[int, ...] = ()

    @classmethod
    def checked(
        cls, question: str, set_size: int | None, kinds: Sequence[str] | None, sizes: Sequence[int], n_items: int
    ) -> Asking:
        """What to ask; QuestionError or SettingError if a kind or a number of items is impossible."""
        allowed = several("kinds", question_kinds.standard_kinds() if kinds is None else kinds)
        if not allowed:
            raise SettingError(f"kinds must name at least one of {', '.join(question_kinds.standard_kinds())}")
        for name in allowed:
            question_kinds.named(name)
        # Sizes that none of these kinds can show are allowed here and left out later: the default sizes are for all kinds.
        most = max(kind.most for kind in question_kinds.all_kinds())
        given = tuple(checked_size(size, 2, most, most) for size in several("sizes", sizes))
        if question == AUTO:
            _check_auto(set_size, allowed, given)
        if set_size is not None:
            set_size = whole_number("set_size", set_size, 1)
        asking = cls(question, set_size, allowed, tuple(size for size in given if size <= n_items), n_items, given)
        for kind in asking.members():
            asking.size_of(kind, set_size)
        return asking

    def members(self) -> tuple[Kind, ...]:
        """The kinds of the family that is asked; none if it is ``auto``."""
        return () if self.question == AUTO else question_kinds.family(self.question)

    def options(self) -> dict[str, Any]:
        """The options as a learner takes them."""
        size, kinds, sizes = self.set_size, list(self.kinds), list(self.given_sizes)
        return {"question": self.question, "set_size": size, "kinds": kinds, "sizes": sizes}

    def families(self) -> tuple[str, ...]:
        """The families that ``auto`` compares."""
        return tuple(dict.fromkeys(question_kinds.named(kind).family for kind in self.kinds))

    def of_family(self, family: str) -> Sequence[Kind]:
        """The members of a family that may be asked: those named in ``kinds``, or all if none is."""
        members = question_kinds.family(family)
        return [kind for kind in members if kind.name in self.kinds] or members

    def checking(self) -> Kind:
        """The kind for random checks: the one being asked if it labels every item shown, else a label."""
        members = [kind for kind in self.members() if kind.labels_all]
        return members[0] if members else question_kinds.single()

    def size_of(self, kind: Kind, size: int | None) -> int:
        """How many items a question of this kind shows: ``size``, or by default the usual number, limited by the pool."""
        if kind.most == 1:
            return 1
        if size is None:
            return max(min(kind.usual, self.n_items), kind.fewest)
        return checked_size(size, kind.fewest, kind.most, self.n_items)

    @property
    def largest(self) -> int:
        """The most items that a question may show."""
        if self.question == AUTO:
            allowed = [question_kinds.named(kind) for kind in self.kinds]
            return max((1, *(size for size in self.sizes if any(kind.fewest <= size <= kind.most for kind in allowed))))
        return max(self.size_of(kind, self.set_size) for kind in self.members())


def _check_auto(set_size: int | None, kinds: Sequence[str], sizes: Sequence[int]) -> None:
    """Raise SettingError if ``auto`` would ignore the one size, or has no size to choose from."""
    if set_size is not None:
        raise SettingError(
            f"set_size = {set_size!r} is for one kind of question, and 'auto' chooses from sizes; write sizes=[…] with the "
            "numbers of items that it may show"
        )
    larger = next((name for name in kinds if question_kinds.named(name).most > 1), None)
    if not sizes and larger is not None:
        raise SettingError(
            f"sizes must name at least one number of items for {larger!r}, such as [4]; for labels only, write kinds=['label']"
        )
