"""Who gets which questions: strata from a learning run, balanced sizes, gold questions, counterbalanced order. No side effects.

One participant's cells are (size, stage) pairs. All pairs are used once before any is used twice, and the pairs left out rotate
from participant to participant: with 7 sizes, 3 stages and 20 questions, each participant misses one of the 21 pairs, and each
pair is missed once by every 21 participants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tellmore.errors import SettingError
from tellmore.learner import Learner
from tellmore.questions import Question
from tellmore.study.settings import Gold, Stage, Study
from tellmore.types import Answer


@dataclass(frozen=True)
class BankQuestion:
    """A question that a learning run asked at ``iteration`` of ``stage``; items are pool ids."""

    kind: str
    items: tuple[str, ...]
    stage: str
    iteration: int

    def row(self) -> dict[str, Any]:
        """The question as a line of the question file."""
        return {**vars(self), "items": list(self.items)}


@dataclass(frozen=True)
class Planned:
    """One question of one participant: ``block`` 1 is the kind asked first, and ``position`` counts within the block from 1.

    ``items`` are in the order first shown; ``gold`` holds the right answer if there is one.
    """

    id: str
    kind: str
    items: tuple[str, ...]
    block: int
    position: int
    stage: str | None = None
    iteration: int | None = None
    gold: Gold | None = None

    def row(self) -> dict[str, Any]:
        """The question as stored in the log."""
        gold = None if self.gold is None else self.gold.model_dump(mode="json")
        return {**vars(self), "items": list(self.items), "gold": gold}

    @classmethod
    def of(cls, row: dict[str, Any]) -> Planned:
        """The planned question in a stored row."""
        gold = row.get("gold")
        return cls(**{**row, "items": tuple(row["items"]), "gold": None if gold is None else Gold(**gold)})


def draw_questions(
    learner: Learner,
    answer: Callable[[Question], Answer],
    stages: Sequence[Stage],
    *,
    sizes: Mapping[str, Sequence[int]],
    progress: Callable[[int, int], None] | None = None,
) -> list[BankQuestion]:
    """Run ``learner`` with ``answer`` (a simulated scorer) and record what it would ask at the iterations of the stages.

    At every iteration of a stage, one question of each kind and size is drawn with the current belief; ``sizes``: those of each
    kind.
    """
    total = max(stage.last for stage in stages)
    bank: list[BankQuestion] = []
    for iteration in range(1, total + 1):
        for stage in stages:
            if stage.first <= iteration <= stage.last:
                probe = learner.copy()
                for kind, own in sizes.items():
                    for size in own:
                        items = probe.ask(kind=kind, size=size).items
                        bank.append(BankQuestion(kind, items, stage.name, iteration))
        if iteration < total:
            question = learner.ask()
            learner.tell(question, answer(question))
        if progress is not None:
            progress(iteration, total)
    return bank


def check_bank(study: Study, bank: Iterable[BankQuestion]) -> None:
    """Raise SettingError if the bank lacks questions of a kind, size and stage that the study needs."""
    have = {(question.kind, len(question.items), question.stage) for question in bank}
    for kind in study.design.kinds:
        for size in study.design.sizes_for(kind):
            for stage in study.stages:
                if (kind, size, stage.name) not in have:
                    raise SettingError(
                        f"no {kind} question of {size} items from stage {stage.name!r} was drawn; "
                        "draw new questions with: tellmore study init --redraw"
                    )


def block_order(study: Study, number: int) -> tuple[str, ...]:
    """The kinds in the order in which participant ``number`` (from 0) gets them: every order equally often."""
    kinds = tuple(study.design.kinds)
    if study.design.order == "fixed":
        return kinds
    turn = number % len(kinds)
    rotated = kinds[turn:] + kinds[:turn]
    return rotated[::-1] if len(kinds) > 2 and (number // len(kinds)) % 2 else rotated


def cells(study: Study, number: int, kind: str) -> list[tuple[int, str]]:
    """(size, stage) of each question of ``kind`` for participant ``number``, before shuffling."""
    pairs = [(size, stage.name) for size in study.design.sizes_for(kind) for stage in study.stages]
    # After a fixed shuffle, the pairs left out are unrelated in size and stage.
    order = np.random.default_rng([study.design.seed, 1]).permutation(len(pairs))
    count = study.design.questions_per_kind
    # The cells of all participants together run through the pairs again and again, so counts never differ by two.
    start = number * count
    return [pairs[order[(start + i) % len(pairs)]] for i in range(count)]


def assignment(study: Study, bank: Sequence[BankQuestion], number: int) -> tuple[Planned, ...]:
    """All questions of participant ``number`` (from 0), in order; the same for the same seed, study, bank and number."""
    check_bank(study, bank)
    rng = np.random.default_rng([study.design.seed, 2, number])
    planned: list[Planned] = []
    for block, kind in enumerate(block_order(study, number), start=1):
        wanted = cells(study, number, kind)
        rng.shuffle(wanted)
        learnt = iter(_draw(bank, kind, wanted, rng))
        gold_order = iter(rng.permutation(len(study.gold)).tolist())
        for position in range(1, len(wanted) + len(study.gold) + 1):
            identifier = f"study-{number:05d}-{block}-{position:03d}"
            if position in study.design.gold_positions:
                gold = study.gold[next(gold_order)]
                planned.append(Planned(identifier, kind, _shuffled(gold.order, rng), block, position, gold=gold))
            else:
                question = next(learnt)
                items = _shuffled(question.items, rng)
                planned.append(Planned(identifier, kind, items, block, position, question.stage, question.iteration))
    return tuple(planned)


def _draw(
    bank: Sequence[BankQuestion], kind: str, wanted: Sequence[tuple[int, str]], rng: np.random.Generator
) -> list[BankQuestion]:
    """A question for each cell, none twice for one participant unless the bank has no others."""
    drawn: list[BankQuestion] = []
    for size, stage in wanted:
        fitting = [q for q in bank if q.kind == kind and len(q.items) == size and q.stage == stage]
        fresh = [q for q in fitting if q not in drawn] or fitting
        drawn.append(fresh[int(rng.integers(len(fresh)))])
    return drawn


def _shuffled(items: Sequence[str], rng: np.random.Generator) -> tuple[str, ...]:
    return tuple(items[i] for i in rng.permutation(len(items)))
