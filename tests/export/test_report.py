from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

from tellmore.data.project import create_project, open_project
from tellmore.export import render
from tellmore.export.plot import Curve, _marks, curve_svg
from tellmore.learner import Learner
from tellmore.pool import Pool
from tellmore.store.state import load_state


class Seen(HTMLParser):
    """Which elements a page has, which addresses it names, whether every element is closed."""

    VOID = ("meta", "img", "br", "line", "circle", "polyline")

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.sources: list[str] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.sources += [value for key, value in attrs if key in ("src", "href") and value]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def seen(content: bytes) -> Seen:
    page = Seen()
    page.feed(content.decode())
    assert page.open == []
    return page


def test_the_report_is_one_page_that_stands_alone(project):
    state = load_state(project)
    page = seen(render(state, "report"))
    assert "script" not in page.tags
    assert page.sources == []
    assert page.tags.count("svg") == 5
    assert "A & B <b>: good" in page.text
    assert "Most informative answers" in page.text
    assert "Least certain" in page.text
    assert "Accuracy: too early to tell" in page.text, "it begins with how it stands, in words"
    assert page.tags.count("details") == 2, "statistics and settings are folded away"
    assert "select_" not in page.text.partition("Settings and origin")[0], "kinds go by their titles"
    assert state.pool.fingerprint in page.text
    best = state.pool.text[int(np.argmax(state.learner.probabilities()))]
    assert best in page.text


def test_items_are_text_never_markup(project):
    content = render(load_state(project), "report").decode()
    assert "<script>" not in content
    assert "<b>: good" not in content


def test_the_report_says_how_good_it_is(project):
    state = load_state(project)
    quality = state.learner.quality()
    page = seen(render(state, "report")).text
    assert f"On the newest {quality.checks} randomly drawn items" in page
    for name, share in quality.named().items():
        assert name in page
        assert (
            f"{share.estimate:.0%}{share.low:.0%} to {share.high:.0%}".replace("%", " %").replace(" % to", " to")
            in page
        )
    assert list(quality.named())[2:] == ["precision", "recall", "F1", "average precision"]
    unmeasured = replace(state, learner=Learner(state.pool))
    assert "No random questions have been answered yet" in seen(render(unmeasured, "report")).text


def test_before_the_first_answer(project):
    state = load_state(project)
    empty = replace(state, effects=[])
    assert "No answers yet." in seen(render(empty, "report")).text


def test_pictures_are_shown_small_and_inside_the_page(tmp_path):
    for number in range(4):
        Image.new("RGB", (900, 600), (60 * number, 10, 10)).save(tmp_path / f"{number}.png")
    ids = [f"{number}.png" for number in range(4)]
    pool = Pool(np.eye(4), ids=ids, images=[str(tmp_path / name) for name in ids])
    page = seen(render(load_state(create_project(tmp_path / "p", pool)), "report"))
    assert page.tags.count("img") == 8, "all four most likely positive, none negative, all four the least certain"
    assert all(source.startswith("data:image/jpeg;base64,") for source in page.sources)
    for cached in (tmp_path / "p" / "images").iterdir():
        cached.unlink()
    assert "0.png" in seen(render(load_state(open_project(tmp_path / "p")), "report")).text


@pytest.mark.parametrize("y", [[1.0], [2.0, 2.0], list(np.linspace(0, 1, 5000))])
def test_any_curve_can_be_drawn(y):
    drawn = curve_svg(Curve("t <&>", "x", "y", np.arange(len(y)), y))
    assert "nan" not in drawn
    assert "<&>" not in drawn
    assert len(drawn) < 20_000


@pytest.mark.parametrize(("low", "high"), [(0.513, 0.604), (-0.0509, -0.0007), (1, 101), (0, 1e-9), (-3e5, 7e5)])
def test_marks_are_few_round_and_inside(low, high):
    marks = _marks(low, high)
    assert 2 <= len(marks) <= 7
    assert all(low - 1e-12 <= mark <= high * (1 + 1e-9) + 1e-12 for mark in marks)
    assert all(len(f"{mark:.6g}") <= 7 for mark in marks)
