"""Writes what is known before the first question into a new project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tellmore.core.gaussian import Gaussian
from tellmore.data.earlier import PRIOR_FILE, Earlier
from tellmore.data.project import Project, open_project, write_settings
from tellmore.errors import InputError, PoolError, SettingError
from tellmore.kinds.label import LABEL, LabelAnswer
from tellmore.questions import Question
from tellmore.store.beforehand import beforehand_of, check_names, named_examples
from tellmore.store.fold import new_learner
from tellmore.store.formats.contract import IMPORTED, LABELLED
from tellmore.store.importing import Collected, append_answers, content_of, key_of
from tellmore.tabular import places


@dataclass(frozen=True)
class WarmStart:
    """Labels of the items become answers. ``start`` has the keys of settings.start; or ``earlier``, a project's folder, gives
    the classifier to start from. ``embed`` names the embedder for words. ``tried``: whether the settings are checked, and
    learning is tried without a start too, because settings or items may be such that nothing can be asked or learnt."""

    earlier: Path | None = None
    start: Mapping[str, Any] = field(default_factory=dict)
    embed: str | None = None
    tried: bool = False

    def __post_init__(self) -> None:
        """Make the quick checks before the embedding, which may take hours."""
        if self.earlier is not None and any(self.start.values()):
            raise SettingError("a start is from an earlier project or from what you name, not from both; remove one")
        check_names(self.start.get("like", ()), self.start.get("unlike", ()), self.start.get("scores_column", ""))

    def __call__(self, project: Project) -> None:
        if self.tried:
            project.settings.check_change(project.settings.data.n)
        if self.earlier is not None:
            _copy_belief(self.earlier, project)
        if any(self.start.values()):
            _write_start(project, self.start, self.embed)
        elif self.tried and self.earlier is None:
            new_learner(project.pool, project.settings, beforehand_of(project))
        labelled = list(_labelled(project))
        if labelled:
            append_answers(project, labelled, why="label")


def _write_start(project: Project, start: Mapping[str, Any], embed: str | None) -> None:
    """Write the start to the settings, with the vectors of its words; raises SettingError if it is impossible."""
    named = {side: named_examples(project.pool, start.get(side, ())) for side in ("like", "unlike")}
    settings = project.settings.changed(start={**start, **named})
    beforehand = beforehand_of(project, embed)
    new_learner(project.pool, settings, beforehand)
    beforehand.keep_words(settings, project.pool)
    write_settings(project.folder, settings)


def _copy_belief(earlier: Path, project: Project) -> None:
    from tellmore.store.state import load_state

    state = load_state(open_project(earlier))
    belief, settings, learner = state.classifier.belief, project.settings, state.learner
    if belief.dim != settings.data.d + 1:
        raise SettingError(
            f"--prior-from {earlier}: its classifier takes {belief.dim - 1} dimensions, the new items have "
            f"{settings.data.d}; use the same embedder for both"
        )
    if state.classifier.normalised != settings.data.normalised:
        raise SettingError(f"--prior-from {earlier}: one project scales vectors to length 1 and the other does not")
    columns = state.ledger.initial.data.columns
    if len(columns) == len(settings.data.columns) == settings.data.d:
        belief = _in_order(belief, columns, settings.data.columns, earlier)
    Earlier(belief, learner.behaviour, learner.w).write(project.folder / PRIOR_FILE)
    started = replace(project, settings=settings.changed(start={"earlier": True}))
    try:
        new_learner(started.pool, started.settings, beforehand_of(started))
    except InputError as problem:
        why = problem if state.effects else "it has no answers, so there is nothing to start from; leave it out"
        raise SettingError(f"--prior-from {earlier}: {why}") from None
    write_settings(project.folder, started.settings)


def _in_order(belief: Gaussian, taught: Sequence[str], now: Sequence[str], earlier: Path) -> Gaussian:
    """A belief over (1, x) that was ``taught`` on these columns, over the columns in the order that they have ``now``."""
    try:
        at = np.array([0, *(1 + place for place in places(now, taught))])
    except PoolError as problem:
        raise SettingError(f"--prior-from {earlier}: it was taught on other columns: {problem}") from None
    return Gaussian.from_moments(belief.mean[at], belief.cov[np.ix_(at, at)])


def _labelled(project: Project) -> Iterator[Collected]:
    """Labels of the items, with the ids that `tellmore import` of the same table would give them, so that it adds nothing."""
    for row, item in enumerate(project.items, start=1):
        if item.get("label"):
            answer = LabelAnswer(item["label"] == "positive")
            key = key_of(content_of(LABEL.name, [item["id"]], answer, IMPORTED))
            yield Collected(Question(LABEL.name, [item["id"]], id=key), answer, row, LABELLED)
