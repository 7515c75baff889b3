"""Creating a study: a project folder, a learning run that draws the questions, and the study file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from tellmore.data.checked import toml_text
from tellmore.data.project import Project, create_project, open_project
from tellmore.data.settings import SETTINGS_FILE, ProjectSettings, Settings
from tellmore.files import write_whole
from tellmore.learner import Learner
from tellmore.pool import Pool
from tellmore.study.bank import BANK_FILE, write_bank
from tellmore.study.design import BankQuestion, draw_questions
from tellmore.study.scorer import simulated_scorer
from tellmore.study.settings import STUDY_FILE, Study


def draw_bank(
    study: Study, pool: Pool, *, seed: int, progress: Callable[[int, int], None] | None = None
) -> list[BankQuestion]:
    """Questions from a learning run with a simulated person (see `simulated_scorer`), at the stages of the study."""
    answer = simulated_scorer(pool, np.random.default_rng([seed, 5]))
    learner = Learner(pool, question="select", set_size=4, seed=seed)
    sizes = {kind: study.design.sizes_for(kind) for kind in study.design.kinds}
    return draw_questions(learner, answer, study.stages, sizes=sizes, progress=progress)


def create_study(
    folder: Path,
    study: Study,
    load: Callable[[], Pool],
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Project, list[BankQuestion]]:
    """Put ``study`` into ``folder``: into an existing project, or a new one on the pool that ``load`` returns.

    The study file is written last, so that an interrupted run can be started again.
    """
    if (folder / SETTINGS_FILE).exists():
        project = open_project(folder)
        pool = project.pool
    else:
        pool = load()
        words = ProjectSettings(
            name=study.title, attribute=study.attribute, positive=study.positive, negative=study.negative
        )
        project = create_project(folder, pool, Settings(project=words))
    bank = draw_bank(study, pool, seed=seed, progress=progress)
    write_bank(folder / BANK_FILE, bank)
    write_whole(folder / STUDY_FILE, toml_text(study))
    return project, bank
