"""The learner on pools that had no part in any choice, compared with logistic regression as in `pools.py`.

    python benchmarks/unseen_pools.py --data DIR [--seeds 6] [--first 1] [--rows results/unseen.csv] [--out docs/pools/unseen.csv]

The pools are made in a temporary folder. ROWS gets a line for every run, and runs that it has are not repeated; OUT gets the
means. The counts of comparisons that are lost are printed. Once a default is chosen with these pools, make others.
"""

from __future__ import annotations

import argparse
import os
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pools
from kept import kept_rows, write_rows
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs, make_classification

from tellmore.types import Array

METHODS = (*pools.KINDS, *pools.PEERS)


class Maker:
    """Writes pools to a folder. Their order matters, because they share one stream of random numbers."""

    def __init__(self, data: Path, folder: Path) -> None:
        self.data, self.folder = data, folder
        self.rng = np.random.default_rng(77)

    def write(self, name: str, X: Array, scores: Array, threshold: float) -> None:
        """One pool, without its constant columns."""
        X, scores = np.asarray(X, dtype=np.float32), np.asarray(scores, dtype=np.float64)
        ids = [f"i{row}" for row in range(len(X))]
        np.savez(self.folder / f"{name}.npz", ids=ids, X=X[:, X.std(axis=0) > 0], mean=scores, threshold=threshold)

    def rated(self, name: str, most: int | None = None) -> tuple[Array, Array, float]:
        """Embeddings, mean scores and threshold of a file of the data, or of this many random items of it."""
        found = np.load(self.data / name, allow_pickle=False)
        rows = np.arange(len(found["X"]))
        if most is not None:
            rows = np.random.default_rng(5).choice(len(rows), min(most, len(rows)), replace=False)
        return found["X"][rows].astype(np.float64), found["mean"][rows], float(found["threshold"])

    def words(self) -> None:
        """VADER with columns of another scale, with all directions alike, and in many correlated columns far from 0."""
        X, scores, threshold = self.rated("words_vader_w2v300.npz", 2500)
        large, columns = X.copy(), self.rng.choice(300, 3, replace=False)
        large[:, columns] = large[:, columns] * 20 + 3
        self.write("three large columns", large, scores, threshold)
        U, s, V = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
        self.write("whitened", U[:, :100] * np.sqrt(len(X)), scores, threshold)
        turn = np.linalg.qr(self.rng.standard_normal((300, 300)))[0]
        wide = (U * s) @ V @ turn @ self.rng.standard_normal((300, 768)) / 20
        self.write("768 columns", wide + self.rng.standard_normal(768) * 3, scores, threshold)

    def made_up(self) -> None:
        """scikit-learn's generators and sets."""
        usual = {"n_features": 40, "n_informative": 6, "n_redundant": 6, "class_sep": 1.0}
        self.write("two classes", *make_classification(2000, **usual, flip_y=0.02, random_state=3), 0.5)
        self.write(
            "two classes, 5 %", *make_classification(2000, **usual, weights=[0.95], flip_y=0, random_state=4), 0.5
        )
        digits = load_digits()
        pixels = (digits.data > 7).astype(float)
        self.write("pixels 9", pixels, digits.target == 9, 0.5)
        self.write("pixels, odd", pixels, digits.target % 2, 0.5)
        few = np.concatenate([np.flatnonzero(digits.target != 6), np.flatnonzero(digits.target == 6)[:33]])
        self.write("digits 6, 2 %", digits.data[few], digits.target[few] == 6, 0.5)
        n = 1500
        several = [np.eye(k)[self.rng.integers(0, k, n)] for k in (4, 6, 10, 3, 8)]
        table = np.hstack([*several, self.rng.poisson(3, (n, 3))])
        scores = table @ self.rng.standard_normal(table.shape[1])
        self.write("one-hot and counts", table, scores, float(np.quantile(scores, 0.7)))
        X, blob = make_blobs(1500, n_features=10, centers=6, cluster_std=2.5, random_state=8)
        self.write("blobs", X, blob == 2, 0.5)
        iris, wine = load_iris(), load_wine()
        self.write("iris 1", iris.data, iris.target == 1, 0.5)
        self.write("wine 2, standardised", (wine.data - wine.data.mean(0)) / wine.data.std(0), wine.target == 2, 0.5)

    def gaussian(self) -> None:
        """Normal columns: few and rare, very many, and with falling variances."""
        X = self.rng.standard_normal((3000, 5))
        scores = X @ np.array([1, 0.5, -0.3, 0, 0])
        self.write("Gaussian 5, 2 %", X, scores, float(np.quantile(scores, 0.98)))
        X = self.rng.standard_normal((2000, 768))
        self.write("Gaussian 768", X, X @ self.rng.standard_normal(768), 0.0)
        X = self.rng.standard_normal((2000, 768)) @ np.diag(1 / np.arange(1, 769) ** 0.7)
        scores = X @ (self.rng.standard_normal(768) * (np.arange(768) < 40))
        self.write("falling variances, 5 %", X, scores, float(np.quantile(scores, 0.95)))
        self.write("falling variances", X, scores, 0.0)

    def rare(self) -> None:
        """Rare classes of words and pictures, in other units."""
        X, scores, _ = self.rated("words_warriner_valence_w2v300.npz", 2500)
        self.write("Warriner, top 3 %", X * 37 + 5, scores, float(np.quantile(scores, 0.97)))
        X, scores, _ = self.rated("images_utkface2000_facenet512.npz")
        self.write("UTKFace, oldest 8 %", X * 10, scores, float(np.quantile(scores, 0.92)))
        X, scores, _ = self.rated("words_socialsent2000_w2v300.npz")
        self.write("SocialSent, top 10 %", X[:3000], scores[:3000], float(np.quantile(scores[:3000], 0.9)))
        oasis = np.load(self.data / "images_oasis_valence_efflite2.npz", allow_pickle=False)
        self.write("OASIS, top 20 %", oasis["X_pca128"], oasis["mean"], float(np.quantile(oasis["mean"], 0.8)))

    def all(self) -> list[str]:
        """Write every pool; returns their names."""
        for make in (self.words, self.made_up, self.gaussian, self.rare):
            make()
        return sorted(path.stem for path in self.folder.glob("*.npz"))


def measured(pool: str, method: str, seed: int, *, folder: Path) -> tuple[object, ...]:
    """The same measures as in `pools.py`."""
    return pools.measured(f"{pool}.npz", method, seed, data=folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", type=Path, default=Path("results/unseen.csv"))
    parser.add_argument("--out", type=Path, default=Path("docs/pools/unseen.csv"))
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--first", type=int, default=1)
    args = parser.parse_args()
    with TemporaryDirectory() as folder:
        names = Maker(args.data, Path(folder)).all()
        cases = [(p, m, s) for s, p, m in product(range(args.first, args.first + args.seeds), names, METHODS)]
        rows = kept_rows(args.rows, pools.FIELDS, cases, partial(measured, folder=Path(folder)))
    pools.POOLS = {name: name for name in names}
    runs = pools.Runs(rows)
    write_rows(args.out, [line for line in pools.summary(runs) if line["seeds"]])
    print("\n".join(line for line in pools.lost(runs).splitlines() if "random items" not in line))


if __name__ == "__main__":
    main()
