"""Teach a binary classifier on existing embeddings with labels, selections, rankings and grids.

Names are imported when first used, so that the command line starts without loading SciPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tellmore.version import __version__ as __version__
from tellmore.views import offer_view

if TYPE_CHECKING:
    from tellmore.classifier import Classifier
    from tellmore.contract import check_question_kind
    from tellmore.core.evidence import Evidence
    from tellmore.core.gaussian import Gaussian as Posterior
    from tellmore.core.time_model import TimeModel
    from tellmore.data.bundled import load_pool
    from tellmore.data.encoders import embedder
    from tellmore.errors import (
        AnswerError,
        DataFileError,
        InputError,
        MissingExtraError,
        NumericalError,
        PoolError,
        QuestionError,
        SettingError,
        StateError,
        StoreError,
        TellmoreError,
    )
    from tellmore.kinds import register as register_kind
    from tellmore.kinds.contract import Kind
    from tellmore.kinds.label import LabelAnswer
    from tellmore.kinds.rank import RankAnswer
    from tellmore.kinds.select import SelectAnswer
    from tellmore.kinds.tick import TickAnswer
    from tellmore.learner import Learner
    from tellmore.policy.cost import CostModel
    from tellmore.policy.stopping import AnswerBudget, DeterminantRule, Settled, Stability, Stop, TimeBudget
    from tellmore.pool import Item, Pool
    from tellmore.project import Project
    from tellmore.questions import Question
    from tellmore.ratings import Scores
    from tellmore.start import Start
    from tellmore.types import Answer, Skip

__all__ = [
    "Answer",
    "AnswerBudget",
    "AnswerError",
    "Classifier",
    "CostModel",
    "DataFileError",
    "DeterminantRule",
    "Evidence",
    "InputError",
    "Item",
    "Kind",
    "LabelAnswer",
    "Learner",
    "MissingExtraError",
    "NumericalError",
    "Pool",
    "PoolError",
    "Posterior",
    "Project",
    "Question",
    "QuestionError",
    "RankAnswer",
    "Scores",
    "SelectAnswer",
    "SettingError",
    "Settled",
    "Skip",
    "Stability",
    "Start",
    "StateError",
    "Stop",
    "StoreError",
    "TellmoreError",
    "TickAnswer",
    "TimeBudget",
    "TimeModel",
    "check_question_kind",
    "embedder",
    "load_pool",
    "register_kind",
]

_HOMES = {
    "classifier": ("Classifier",),
    "core.evidence": ("Evidence",),
    "core.gaussian": ("Posterior",),
    "core.time_model": ("TimeModel",),
    "policy.cost": ("CostModel",),
    "policy.stopping": ("AnswerBudget", "DeterminantRule", "Settled", "Stability", "Stop", "TimeBudget"),
    "data.bundled": ("load_pool",),
    "data.encoders": ("embedder",),
    "pool": ("Item", "Pool"),
    "ratings": ("Scores",),
    "project": ("Project",),
    "kinds": ("register_kind",),
    "contract": ("check_question_kind",),
    "kinds.contract": ("Kind",),
    "kinds.label": ("LabelAnswer",),
    "kinds.rank": ("RankAnswer",),
    "kinds.select": ("SelectAnswer",),
    "kinds.tick": ("TickAnswer",),
    "learner": ("Learner",),
    "questions": ("Question",),
    "start": ("Start",),
    "types": ("Answer", "Skip"),
}


_NAMED_THERE = {"Posterior": "Gaussian", "register_kind": "register"}
"""Names that differ in the module that defines them."""


offer_view("widget", "tellmore.widget:LearnerWidget")


def __getattr__(name: str) -> Any:
    """A public name, imported from the module that defines it; all errors are in ``errors``."""
    if name not in __all__:
        raise AttributeError(f"module 'tellmore' has no attribute {name!r}")
    home = next((module for module, names in _HOMES.items() if name in names), "errors")
    value = globals()[name] = getattr(import_module(f"tellmore.{home}"), _NAMED_THERE.get(name, name))
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
