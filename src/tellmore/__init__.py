"""Teach a binary classifier over off-the-shelf embeddings by labels, picks, rankings and grids.

Names are loaded when they are first used, so that the command line starts without loading SciPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tellmore.contract import check_question_kind
    from tellmore.core.gaussian import Gaussian as Posterior
    from tellmore.data.bundled import load_pool
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
    from tellmore.kinds.contract import Kind
    from tellmore.kinds.label import LabelAnswer
    from tellmore.kinds.rank import RankAnswer
    from tellmore.kinds.select import SelectAnswer
    from tellmore.kinds.tick import TickAnswer
    from tellmore.learner import Learner
    from tellmore.policy.stopping import AnswerBudget, DeterminantRule, Stability, Stop, TimeBudget
    from tellmore.pool import Pool, Scores
    from tellmore.questions import Question
    from tellmore.start import Start
    from tellmore.types import Answer, Skip

__version__ = "0.2.0.dev0"

__all__ = [
    "Answer",
    "AnswerBudget",
    "AnswerError",
    "DataFileError",
    "DeterminantRule",
    "InputError",
    "Kind",
    "LabelAnswer",
    "Learner",
    "MissingExtraError",
    "NumericalError",
    "Pool",
    "PoolError",
    "Posterior",
    "Question",
    "QuestionError",
    "RankAnswer",
    "Scores",
    "SelectAnswer",
    "SettingError",
    "Skip",
    "Stability",
    "Start",
    "StateError",
    "Stop",
    "StoreError",
    "TellmoreError",
    "TickAnswer",
    "TimeBudget",
    "check_question_kind",
    "load_pool",
]

_HOMES = {
    "core.gaussian": ("Posterior",),
    "policy.stopping": ("AnswerBudget", "DeterminantRule", "Stability", "Stop", "TimeBudget"),
    "data.bundled": ("load_pool",),
    "pool": ("Pool", "Scores"),
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


def __getattr__(name: str) -> Any:
    """A public name, from the module that defines it; the errors are all in ``errors``."""
    if name not in __all__:
        raise AttributeError(f"module 'tellmore' has no attribute {name!r}")
    home = next((module for module, names in _HOMES.items() if name in names), "errors")
    original = "Gaussian" if name == "Posterior" else name
    value = globals()[name] = getattr(import_module(f"tellmore.{home}"), original)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
