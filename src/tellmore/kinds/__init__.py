"""The kinds of question, each an object in its own file, and the registry in which all other modules look them up.

>>> named("tick").headline(Words(positive="friendly"))
'Tick everything that is friendly'
"""

from tellmore.kinds.contract import Kind, Outcome, Perception, Words, perceived
from tellmore.kinds.registry import Registry

REGISTRY = Registry()
register = REGISTRY.register
all_kinds = REGISTRY.all
named = REGISTRY.named
family = REGISTRY.family
single = REGISTRY.single
answer_from_json = REGISTRY.answer_from_json


def standard_kinds() -> tuple[str, ...]:
    """Names of the kinds that ``auto`` may choose by default."""
    return tuple(kind.name for kind in all_kinds() if kind.standard)


def families() -> tuple[str, ...]:
    """All families, each once."""
    return tuple(dict.fromkeys(kind.family for kind in all_kinds()))


__all__ = [
    "REGISTRY",
    "Kind",
    "Outcome",
    "Perception",
    "Registry",
    "Words",
    "all_kinds",
    "answer_from_json",
    "families",
    "family",
    "named",
    "perceived",
    "register",
    "single",
    "standard_kinds",
]
