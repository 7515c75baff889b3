"""Datasets of Hugging Face: with pictures inside, and by public name from a hub, here one that runs on this computer."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from tellmore.data.ingest import EmbeddingSource, Ingest
from tellmore.data.items import read_items
from tellmore.data.reading import Reading

pytestmark = pytest.mark.integrations

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FILES = {
    "README.md": b"---\nlicense: apache-2.0\n---\n# Reviews\n",
    "train.csv": b"id,text,label\na,warm and kind,1\nb,cold and rude,0\nc,kind but cold,\nd,a warm welcome,1\n",
    "test.csv": b"id,text,label\nz,rude staff,0\n",
}


class Hub(BaseHTTPRequestHandler):
    """As much of the hub's HTTP interface as a dataset of plain files needs."""

    repository = "people/reviews"

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        api, files = f"/api/datasets/{self.repository}", f"/datasets/{self.repository}/resolve/{COMMIT}/"
        if path in (api, f"{api}/revision/main", f"{api}/revision/{COMMIT}"):
            named = [{"rfilename": name} for name in FILES]
            about = {
                "id": self.repository,
                "sha": COMMIT,
                "private": False,
                "tags": [],
                "downloads": 0,
                "siblings": named,
            }
            self.send_json(about)
        elif path.startswith(f"{api}/tree/"):
            self.send_json([entry(name) for name in FILES])
        elif path.removeprefix(files) in FILES:
            content = FILES[path.removeprefix(files)]
            tag = hashlib.sha256(content).hexdigest()
            self.send(200, content, {"ETag": f'"{tag}"', "X-Repo-Commit": COMMIT})
        elif path.startswith((api, f"/datasets/{self.repository}/")):
            self.send(404, b"", {"X-Error-Code": "EntryNotFound"})
        else:
            self.send(404, b"", {"X-Error-Code": "RepoNotFound"})

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        wanted = json.loads(asked).get("paths", []) if asked.startswith(b"{") else []
        self.send_json([entry(name) for name in wanted if name in FILES])

    def send_json(self, value: object) -> None:
        self.send(200, json.dumps(value).encode(), {"Content-Type": "application/json", "X-Repo-Commit": COMMIT})

    def send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Silent."""


def entry(name: str) -> dict[str, object]:
    return {"type": "file", "path": name, "size": len(FILES[name]), "oid": hashlib.sha1(FILES[name]).hexdigest()}


@pytest.fixture
def hub() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def tellmore(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    own = {**os.environ, "HF_HOME": str(folder / "hf"), "HF_HUB_DISABLE_TELEMETRY": "1", **environment}
    command = [sys.executable, "-m", "tellmore", *arguments, "--embed", "tfidf", "--attribute", "friendly"]
    return subprocess.run(command, cwd=folder, env=own, text=True, capture_output=True)


def test_a_dataset_comes_from_a_hub_and_then_from_what_it_left_here(tmp_path: Path, hub: str) -> None:
    init = ("init", "--items", "hf:people/reviews:train")
    first = tellmore(tmp_path, *init, "first", HF_ENDPOINT=hub)
    assert first.returncode == 0, first.stderr
    items = [json.loads(line) for line in (tmp_path / "first" / "items.jsonl").read_text().splitlines()]
    assert [item["id"] for item in items] == ["a", "b", "c", "d"]
    assert [item.get("label") for item in items] == ["positive", "negative", None, "positive"]
    again = tellmore(tmp_path, *init, "again", HF_ENDPOINT="http://127.0.0.1:9")  # nobody listens there
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "again" / "items.jsonl").read_text() == (tmp_path / "first" / "items.jsonl").read_text()


@pytest.mark.parametrize(
    ("name", "says"), [("people/reviews", "the parts are"), ("people/nothing:train", "could not be loaded")]
)
def test_what_is_not_there_is_said_in_a_line(tmp_path: Path, hub: str, name: str, says: str) -> None:
    failed = tellmore(tmp_path, "init", "project", "--items", f"hf:{name}", HF_ENDPOINT=hub)
    assert (failed.returncode, "Traceback" in failed.stderr) == (1, False), failed.stderr
    assert says in failed.stderr.splitlines()[-1]
    assert not (tmp_path / "project").exists()


def test_a_hub_that_does_not_answer_is_said_in_a_line(tmp_path: Path) -> None:
    unreached = {"HF_ENDPOINT": "http://127.0.0.1:9"}
    failed = tellmore(tmp_path, "init", "p", "--items", "hf:people/reviews:train", **unreached)
    assert (failed.returncode, len(failed.stderr.strip().splitlines())) == (1, 1), failed.stderr
    assert "the hub does not respond" in failed.stderr


def test_pictures_inside_a_dataset_become_items_and_stay_with_the_project(tmp_path: Path) -> None:
    import datasets
    from PIL import Image

    def png(red: int) -> bytes:
        written = BytesIO()
        Image.new("RGB", (8, 6), (red, 0, 0)).save(written, "PNG")
        return written.getvalue()

    Image.new("RGB", (8, 6), "blue").save(tmp_path / "beside.png")
    rows = [{"bytes": png(40 * n), "path": f"{n}.png"} for n in range(3)]
    rows += [{"bytes": png(200), "path": None}, {"bytes": None, "path": str(tmp_path / "beside.png")}]
    features = datasets.Features({"id": datasets.Value("string"), "image": datasets.Image()})
    data = datasets.Dataset.from_dict({"id": list("abcde"), "image": rows}, features=features)
    data.save_to_disk(tmp_path / "pictures")

    reading = Reading()
    table = read_items(tmp_path / "pictures", reading=reading)
    assert table.images is not None
    assert [Image.open(path).getpixel((0, 0))[0] for path in table.images] == [0, 40, 80, 200, 0]
    unpacked = reading.unpacked
    assert len(list(unpacked.iterdir())) == 5, "the dataset holds all pictures once it is saved"
    del reading
    assert not unpacked.exists()

    np.savez(tmp_path / "x.npz", ids=list("abcde"), X=np.random.default_rng(0).normal(size=(5, 3)))
    project, _ = Ingest(tmp_path / "p", tmp_path / "pictures", EmbeddingSource(tmp_path / "x.npz")).run()
    images = project.pool.images
    assert images is not None
    assert all(Path(path).parent == project.folder.absolute() / "pictures" for path in images)
    assert [Image.open(path).getpixel((0, 0))[0] for path in images] == [0, 40, 80, 200, 0]
    assert project.picture("d").is_file()
