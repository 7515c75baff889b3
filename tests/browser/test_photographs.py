"""A folder of photographs is embedded, taught in the browser and exported."""

from __future__ import annotations

import colorsys
import csv
import re
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from PIL import Image
from playwright.sync_api import Browser, expect

from tellmore.data.project import open_project
from tests.browser.conftest import DEVICES, PATIENCE_MS
from tests.browser.person import Person
from tests.browser.serving import run_tellmore, serving

PICTURES = 240
ANSWERS = 14


def hue_of(name: str) -> float:
    """Hues are in the names: 0.0 and 1.0 are red, 0.5 is cyan."""
    return int(Path(name).stem) / PICTURES


def is_warm(name: str) -> bool:
    return min(hue_of(name), 1 - hue_of(name)) < 0.25


def paint(folder: Path) -> None:
    """Small pictures of all hues; the first is large and lies on its side."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(PICTURES):
        colour = np.array(colorsys.hsv_to_rgb(number / PICTURES, 0.8, 0.9)) * 255
        pixels = np.clip(colour + rng.normal(scale=12, size=(48, 64, 3)), 0, 255).astype(np.uint8)
        picture = Image.fromarray(pixels)
        if number == 0:
            exif = Image.Exif()
            exif[0x0112] = 6
            picture.resize((3200, 2400)).save(folder / "0.jpg", exif=exif)
        else:
            picture.save(folder / f"{number}.png")


def encoder(path: Path) -> None:
    """An ONNX encoder: mean colour and mean squared colour, six numbers a picture."""
    graph = helper.make_graph(
        [
            helper.make_node("ReduceMean", ["pixels", "axes"], ["mean"], keepdims=0),
            helper.make_node("Mul", ["mean", "mean"], ["squared"]),
            helper.make_node("Concat", ["mean", "squared"], ["features"], axis=1),
        ],
        "colours",
        [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["batch", 3, 16, 16])],
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["batch", 6])],
        [numpy_helper.from_array(np.array([2, 3], dtype=np.int64), "axes")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    path.with_suffix(".toml").write_text("size = [16, 16]\nmean = [0.5, 0.5, 0.5]\nstd = [0.25, 0.25, 0.25]\n")


def shown(person: Person) -> list[str]:
    """Ids of the pictures on screen, from their addresses."""
    sources = person.page.locator("section.card[data-shown] img").evaluate_all("all => all.map(one => one.src)")
    return [unquote(source.split("/api/items/")[1].rsplit("/image", 1)[0]) for source in sources]


def answer(person: Person) -> None:
    """Label the one picture on screen by whether it is warm."""
    (name,) = shown(person)
    positive = is_warm(name)
    verdict = person.page.locator(".verdict").nth(0 if positive else 1)
    person.submit({"type": "label", "positive": positive}, verdict.click)


@pytest.mark.parametrize(("device", "theme"), [("wide", "light"), ("narrow", "dark")])
def test_photographs_from_a_folder_to_a_classifier(browser: Browser, tmp_path: Path, device: str, theme: str) -> None:
    paint(tmp_path / "pictures")
    encoder(tmp_path / "encoder.onnx")
    said = run_tellmore(
        tmp_path, "init", "photos", "--items", "pictures", "--embed", "onnx:encoder.onnx", "--attribute", "warm"
    )
    assert f"{PICTURES} items, 6 dimensions" in said
    settings = tmp_path / "photos" / "tellmore.toml"
    settings.write_text(settings.read_text().replace('question = "auto"', 'question = "label"'))
    with serving(tmp_path / "photos", "serve", str(tmp_path / "photos")) as server:
        context = browser.new_context(**DEVICES[device], color_scheme=theme)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        person = Person(page, server, "owner")
        page.on("pageerror", lambda error: person.problems.append(str(error)))
        page.goto(server.url)
        page.get_by_role("button", name="Skip").click()
        person.card.wait_for()
        for _ in range(ANSWERS):
            answer(person)
        person.check_log()
        served = page.request.get(f"{server.base}/api/items/0.jpg/image")
        (tmp_path / "served.jpg").write_bytes(served.body())
        page.goto(f"{server.base}/dashboard#items")
        page.locator(".item-button").first.click()
        chosen = page.get_by_role("region", name="The chosen item").locator(".detail-item img")
        expect(chosen).to_be_visible()
        assert chosen.evaluate("picture => picture.clientWidth") > 200, "a small picture is shown large"
        page.goto(f"{server.base}/dashboard#answers")
        expect(page.locator(".log-pictures img")).to_have_count(ANSWERS)
        expect(page.locator(".told").first).to_have_text(re.compile("^picture: (not )?warm$"))
        page.goto(f"{server.base}/dashboard#export")
        with page.expect_download() as coming:
            page.get_by_role("button", name="Download: Classifier, ONNX").click()
        coming.value.save_as(tmp_path / "warm.onnx")
        context.close()
    with Image.open(tmp_path / "served.jpg") as upright:
        assert upright.size == (768, 1024)
    run_tellmore(tmp_path, "score", "photos", "pictures", "--embed", "onnx:encoder.onnx", "--out", "scores.csv")
    taken, pool = onnxruntime.InferenceSession(tmp_path / "warm.onnx"), open_project(tmp_path / "photos").pool
    called = taken.run(["probability"], {taken.get_inputs()[0].name: pool.X})[0].ravel() > 0.5
    assert np.mean(called == [is_warm(name) for name in pool.ids]) > 0.85
    rows = list(csv.DictReader((tmp_path / "scores.csv").read_text().splitlines()))
    right = [(float(row["probability"]) > 0.5) == is_warm(row["id"]) for row in rows]
    assert len(rows) == PICTURES
    assert np.mean(right) > 0.85
