"""Teach a binary classifier over off-the-shelf embeddings by labels, picks and rankings."""

from tellmore.core.gaussian import Gaussian as Posterior
from tellmore.core.stopping import AnswerBudget, DeterminantRule, Stability, Stop, TimeBudget
from tellmore.data.bundled import load_pool
from tellmore.data.pool import Pool, Scores
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
from tellmore.learner import Learner
from tellmore.types import Answer, LabelAnswer, Question, RankAnswer, SelectAnswer, Skip

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "AnswerBudget",
    "AnswerError",
    "DataFileError",
    "DeterminantRule",
    "InputError",
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
    "StateError",
    "Stop",
    "StoreError",
    "TellmoreError",
    "TimeBudget",
    "load_pool",
]
