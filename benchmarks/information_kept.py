"""How much of the information of a search in the whole pool a search among candidates keeps.

    python benchmarks/information_kept.py [--data FOLDER] [--out docs/scale/kept.csv]

Real pools are repeated with small noise until they are large, which makes every item one of many near-duplicates; they are also
used as they are, with fewer candidates. Both sets of items are judged by the same draws, many more than the search uses. A run
that was stopped continues where it stopped.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from bench_scale import Person, made_pool
from kept import kept_rows

from tellmore import Learner, Pool
from tellmore.core import candidates as module
from tellmore.kinds import named

FIELDS = ["pool", "n", "candidates", "answers", "kind", "size", "seed", "whole_bits", "kept_bits", "share"]
REAL = (
    "words_vader_w2v300",
    "words_socialsent2000_w2v300",
    "words_warriner_valence_w2v300",
    "images_oasis_valence_efflite2",
    "images_utkface2000_facenet512",
)
LARGEST = ("words_vader_w2v300", "random")
LARGER = ("words_vader_w2v300", "images_utkface2000_facenet512")
AS_THEY_ARE = ("words_vader_w2v300", "words_warriner_valence_w2v300")
KINDS = (("label", 1), ("select_high", 4), ("rank", 4), ("rank", 10), ("tick", 12))
NOISE = 0.02
"""Standard deviation of the noise added to a copy, relative to that of each column."""
JUDGED = 1_024
AGES = (0, 20)
"""Answers before the search."""
LATE = 100
"""The same in the largest pools, besides those above."""


def cases() -> list[tuple[str, int, int, int, str, int, int]]:
    found = []
    for kind, size in KINDS:
        for answers in AGES:
            found += [(pool, 20_000, 4_096, answers, kind, size, 0) for pool in (*REAL, "random")]
            found += [(pool, 100_000, 4_096, answers, kind, size, 0) for pool in LARGER]
            found += [(pool, 0, 1_024, answers, kind, size, 0) for pool in AS_THEY_ARE]
        for answers in (*AGES, LATE):
            found += [(pool, 1_000_000, 4_096, answers, kind, size, 0) for pool in LARGEST]
    return found


def matrix(pool: str, n: int, data: Path) -> np.ndarray:
    """The pool's embeddings, with noisy copies up to n rows; n = 0: as they are."""
    if pool == "random":
        return made_pool(n, 300)
    X = np.load(data / f"{pool}.npz", allow_pickle=False)["X"].astype(np.float32)
    if n == 0:
        return X
    rng = np.random.default_rng(0)
    rows = np.resize(np.arange(len(X)), n)
    return (X[rows] + NOISE * X.std(axis=0) * rng.standard_normal((n, X.shape[1]), dtype=np.float32)).astype(np.float32)


class Measure:
    """Measures one case. Learners are kept from one case to the next, because many cases use the same one."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._learners: dict[tuple[str, int, int, int], Learner] = {}

    def learner(self, pool: str, n: int, answers: int, seed: int) -> Learner:
        key = pool, n, answers, seed
        if key not in self._learners:
            if answers == 0:
                self._learners = {each: one for each, one in self._learners.items() if each[:2] == (pool, n)}
                self._learners[key] = Learner(Pool(matrix(pool, n, self._data)), seed=seed)
            else:
                learner = self.learner(pool, n, 0, seed).copy()
                person = Person(learner.pool, seed)
                for number in range(answers):
                    kind, size = KINDS[number % 3]
                    question = learner.ask(kind=kind, size=size)
                    learner.tell(question, person.answer(question))
                self._learners[key] = learner
        return self._learners[key]

    def __call__(
        self, pool: str, n: int, count: int, answers: int, kind: str, size: int, seed: int
    ) -> tuple[float, float, float]:
        learner, asked = self.learner(pool, n, answers, seed), named(kind)
        scan, belief = learner.scan, learner.belief
        judged = []
        for whole in (True, False):
            module.SEARCHED_WHOLE, module.CANDIDATES = (10**9 if whole else 0), count
            rng = np.random.default_rng(seed)
            among = module.candidates(scan, size, learner.asking, rng=rng, belief=belief)
            rows = among.search(asked, belief, size, learner.asking, rng=rng).rows
            mean, cov = learner.joint_scores([learner.pool.ids[row] for row in rows])
            bits = asked.gain(mean, cov, learner.asking, rng=np.random.default_rng(7), draws=JUDGED).bits
            judged.append(round(bits, 5))
        print(pool, n, count, answers, kind, size, *judged, round(judged[1] / judged[0], 4), flush=True)
        return judged[0], judged[1], round(judged[1] / judged[0], 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("TELLMORE_DATA", "data")))
    parser.add_argument("--out", type=Path, default=Path("docs/scale/kept.csv"))
    options, _ = parser.parse_known_args()
    ordered = sorted(cases(), key=lambda case: (case[0], case[1], case[3]))
    rows = kept_rows(options.out, FIELDS, ordered, Measure(options.data))
    shares = np.array([float(row["share"]) for row in rows])
    print(f"{len(rows)} cases: mean {shares.mean():.4f}, worst {shares.min():.4f}")


if __name__ == "__main__":
    main()
