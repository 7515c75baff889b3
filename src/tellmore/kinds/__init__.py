"""The kinds of question, one file each, behind one contract; ``KINDS_BY_NAME`` is the registry."""

from tellmore.kinds.contract import Outcome, QuestionKind, check_question_kind
from tellmore.kinds.label import LABEL
from tellmore.kinds.rank import RANK
from tellmore.kinds.select import SELECT_HIGH, SELECT_LOW

KINDS_BY_NAME: dict[str, QuestionKind] = {kind.name: kind for kind in (LABEL, SELECT_HIGH, SELECT_LOW, RANK)}

__all__ = [
    "KINDS_BY_NAME",
    "LABEL",
    "RANK",
    "SELECT_HIGH",
    "SELECT_LOW",
    "Outcome",
    "QuestionKind",
    "check_question_kind",
]
