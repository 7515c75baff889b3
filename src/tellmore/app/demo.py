"""The demo: the bundled words as a project in the user's data folder; each start continues it."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_data_path

from tellmore.data.bundled import demo_pool, load_pool
from tellmore.data.project import Project, create_project, open_project
from tellmore.data.settings import SETTINGS_FILE, LearningSettings, ProjectSettings, Settings

DEMO_SETTINGS = Settings(
    project=ProjectSettings(
        name="words",
        attribute="positive",
        positive="positive",
        negative="negative",
        instruction="Teach the computer which words are positive.",
    ),
    learning=LearningSettings(question="auto", target_accuracy=0.85),
)


def open_demo(folder: Path | None = None) -> Project:
    """The demo's project; it is created if it does not exist yet."""
    target = folder if folder is not None else user_data_path("tellmore", appauthor=False) / "demo"
    if not (target / SETTINGS_FILE).exists():
        create_project(target, demo_pool(), DEMO_SETTINGS)
    return open_project(target)


def known_scores() -> dict[str, float]:
    """People's ratings of the bundled words, with 0 as neutral, for simulated people."""
    pool = load_pool("words")
    if pool.scores is None:
        return {}
    return {item: float(mean - pool.scores.threshold) for item, mean in zip(pool.ids, pool.scores.mean, strict=True)}
