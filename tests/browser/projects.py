"""Small projects for the browser tests: words, and pictures drawn here."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from tellmore.data import Pool
from tellmore.data.bundled import demo_pool
from tellmore.data.ingest import EmbeddingSource, Ingest
from tellmore.data.items import Columns
from tellmore.data.project import create_project
from tellmore.data.settings import LearningSettings, ProjectSettings, Settings
from tellmore.kinds.label import LabelAnswer
from tellmore.questions import Question
from tellmore.store.events import answer_event, question_event
from tellmore.store.repository import Repository

WORDS = 150
PICTURES = 96
"""Several people see twelve at once, and nobody sees an item that somebody else has."""
PICTURE_SIZE = (320, 240)


def settings(question: str, size: int, *, name: str, instruction: str, ties: bool = False) -> Settings:
    """Only this kind and size is asked; there are no random checks if they would be of another kind."""
    kinds = ("select_high", "select_low") if question == "select" else (question,)
    check_share = 0.1 if question in ("label", "rank") else 0.0
    return Settings(
        project=ProjectSettings(name=name, instruction=instruction),
        learning=LearningSettings(
            question=question, kinds=kinds, sizes=(size,), set_size=size, check_share=check_share, ties=ties
        ),
    )


def word_project(folder: Path, question: str, size: int = 4, *, ties: bool = False, words: int = WORDS) -> Path:
    """A project that asks one kind of question about this many of the bundled words."""
    pool = demo_pool().subset(np.arange(words))
    instruction = "Judge each word by the feeling it carries."
    told = settings(question, size, name="Word sentiment", instruction=instruction, ties=ties)
    create_project(folder, pool, told)
    return folder


def sentiment_project(folder: Path, question: str, size: int = 4) -> Path:
    """The same for words from all of the alphabet, some of them well known."""
    words = demo_pool()
    rows = sorted({*range(0, len(words), 12), *words.rows(["happy", "excellent", "terrible"]).tolist()})
    create_project(
        folder, words.subset(np.array(rows)), settings(question, size, name="Word sentiment", instruction="")
    )
    return folder


def sentence_project(folder: Path, question: str = "label", size: int = 2) -> Path:
    """Items of one long sentence each."""
    rng = np.random.default_rng(0)
    text = [f"On day {row} they were welcomed warmly, waited for an hour, and then left again." for row in range(40)]
    pool = Pool(rng.normal(size=(len(text), 6)).astype(np.float32), [f"day{row}" for row in range(len(text))], text)
    create_project(folder, pool, settings(question, size, name="Days", instruction=""))
    return folder


def review_project(folder: Path, question: str, size: int) -> Path:
    """Items of some 600 characters, every fourth of one short sentence."""
    rng = np.random.default_rng(0)
    long = " ".join(["They were welcomed warmly, waited for an hour, and then left again."] * 9)
    text = [f"Guest {row} left a note." if row % 4 == 0 else f"Guest {row}. {long}" for row in range(60)]
    pool = Pool(rng.normal(size=(len(text), 6)).astype(np.float32), [f"guest{row}" for row in range(len(text))], text)
    create_project(folder, pool, settings(question, size, name="Reviews", instruction="Judge the whole stay."))
    return folder


def judged_project(folder: Path) -> Path:
    """Words, few of them positive, with a model's scores and words as kept columns, and 40 random answers."""
    words = demo_pool().subset(np.arange(WORDS))
    judged = np.random.default_rng(0).random(WORDS).round(3)
    verdicts = ["spam" if score >= 0.5 else "ham" for score in judged]
    items, vectors = folder.parent / "items.csv", folder.parent / "vectors.npz"
    rows = [",".join(map(str, row)) for row in zip(words.ids, words.ids, judged, verdicts, strict=True)]
    items.write_text("\n".join(["id,text,llm,filter", *rows]) + "\n", encoding="utf-8")
    np.savez(vectors, ids=words.ids, X=words.X)
    told = settings("label", 2, name="Judged words", instruction="").changed(learning={"check_share": 0.9})
    source, columns = EmbeddingSource(vectors), Columns(keep=("llm", "filter"))
    project, _ = Ingest(folder, items, source, told, columns).run()
    with closing(Repository(project.database_url)) as repository:
        for row in range(40):
            question = Question("label", [words.ids[row]])
            answer = answer_event(question.id, "ann", LabelAnswer(row % 5 == 0))
            repository.append([question_event(question, "ann", check=True, why="check"), answer])
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
    told = settings(question, size, name="Warm pictures", instruction="Judge each picture by its colour.")
    create_project(folder, pool, told)
    return folder
