"""A pool, a question bank and records of a study, all made up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tellmore.policy.cost import PAPER_COST, CostModel
from tellmore.study.design import BankQuestion, assignment
from tellmore.study.records import Records
from tellmore.study.settings import Study


@dataclass(frozen=True)
class Words:
    """A pool as far as a study looks at one."""

    ids: tuple[str, ...] = tuple(f"w{i}" for i in range(20))
    text: tuple[str, ...] | None = tuple(f"word {i}" for i in range(20))
    images: tuple[str, ...] | None = None


def bank_of(study: Study) -> list[BankQuestion]:
    rng = np.random.default_rng(0)
    return [
        BankQuestion(kind, tuple(f"w{i}" for i in rng.permutation(20)[:size]), stage.name, stage.first + turn)
        for kind in study.design.kinds
        for size in study.design.sizes_for(kind)
        for stage in study.stages
        for turn in range(3)
    ]


@dataclass
class Draw:
    """Records of simulated participants, without a server; ``miss(number, kind)`` says who misses a gold question."""

    study: Study
    cost: CostModel = PAPER_COST
    seed: int = 0
    miss: Callable[[int, str], bool] = field(default=lambda _number, _kind: False)

    def records(self, people: int) -> Records:
        rng = np.random.default_rng(self.seed)
        bank = bank_of(self.study)
        rows: list[dict[str, Any]] = []
        for number in range(people):
            missed: set[str] = set()
            for planned in assignment(self.study, bank, number):
                gold = planned.gold is not None
                wrong = gold and planned.kind not in missed and self.miss(number, planned.kind)
                if wrong:
                    missed.add(planned.kind)
                rows.append(
                    {
                        "participant": f"p{number}",
                        "kind": planned.kind,
                        "size": len(planned.items),
                        "block": planned.block,
                        "position": planned.position,
                        "stage": planned.stage,
                        "iteration": planned.iteration,
                        "gold": gold,
                        "right": not wrong if gold else None,
                        "skipped": False,
                        "seconds": self.cost.sample(planned.kind, len(planned.items), rng),
                        "question_id": planned.id,
                    }
                )
        return Records([_person(number, rng) for number in range(people)], rows)


def _person(number: int, rng: np.random.Generator) -> dict[str, Any]:
    return {
        "participant": f"p{number}",
        "order": ["rank", "select_high"],
        "consented": True,
        "passed_comprehension": True,
        "outcome": "complete",
        "total_s": 900.0 + 10 * number,
        "fingerprint": "f",
        "demographics": {"age": int(rng.integers(18, 80)), "ethnicity": "White" if number % 3 else "Asian"},
    }
