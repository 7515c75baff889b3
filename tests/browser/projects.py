"""Small projects for the browser tests: words, and pictures drawn here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from tellmore.data import Pool
from tellmore.data.bundled import demo_pool
from tellmore.data.project import create_project
from tellmore.data.settings import LearningSettings, ProjectSettings, Settings

WORDS = 150
PICTURES = 96
"""Several people at once are shown twelve, and nobody is shown what is out with somebody else."""
PICTURE_SIZE = (320, 240)


def settings(question: str, size: int, *, name: str, instruction: str, ties: bool = False) -> Settings:
    """Only this kind and size is asked; where the random check would be of another kind, there is none."""
    kinds = ("select_high", "select_low") if question == "select" else (question,)
    check_share = 0.1 if question in ("label", "rank") else 0.0
    return Settings(
        project=ProjectSettings(name=name, instruction=instruction),
        learning=LearningSettings(
            question=question, kinds=kinds, sizes=(size,), set_size=size, check_share=check_share, ties=ties
        ),
    )


def word_project(folder: Path, question: str, size: int = 4, *, ties: bool = False, words: int = WORDS) -> Path:
    """A project that asks one kind of question about so many of the bundled words."""
    pool = demo_pool().subset(np.arange(words))
    instruction = "Judge each word by the feeling it carries."
    told = settings(question, size, name="Word sentiment", instruction=instruction, ties=ties)
    create_project(folder, pool, told)
    return folder


def markup_project(folder: Path) -> Path:
    """Items whose text is markup and script: it must be shown as typed."""
    rng = np.random.default_rng(0)
    text = [f"<img src=x onerror=document.title='{row}'><b>{row}</b>" for row in range(12)]
    vectors = rng.normal(size=(len(text), 4)).astype(np.float32)
    pool = Pool(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), [f"id{row}" for row in range(12)], text)
    create_project(folder, pool, settings("rank", 3, name="Markup", instruction="<i>Plain</i>"))
    return folder


def _draw(path: Path, hue: int) -> None:
    picture = Image.new("HSV", PICTURE_SIZE, (hue, 120, 210)).convert("RGB")
    pen = ImageDraw.Draw(picture)
    pen.ellipse((110, 70, 210, 170), fill=(250, 250, 245))
    pen.rectangle((0, 190, 320, 240), fill=(60, 80, 70))
    picture.save(path)


def picture_project(folder: Path, question: str, size: int = 4) -> Path:
    """A project of pictures; their embedding is their hue."""
    pictures = folder.parent / f"{folder.name}-pictures"
    pictures.mkdir()
    hues = np.linspace(0, 255, PICTURES, endpoint=False).astype(int)
    for row, hue in enumerate(hues):
        _draw(pictures / f"{row}.png", int(hue))
    angle = 2 * np.pi * hues / 256
    vectors = np.stack([np.cos(angle), np.sin(angle), np.full(PICTURES, 0.2)], axis=1).astype(np.float32)
    images = [str(pictures / f"{row}.png") for row in range(PICTURES)]
    pool = Pool(
        vectors / np.linalg.norm(vectors, axis=1, keepdims=True), [f"p{row}" for row in range(PICTURES)], images=images
    )
    create_project(folder, pool, settings(question, size, name="Warm pictures", instruction=""))
    return folder
