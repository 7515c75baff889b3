"""A summary of a learner, for notebooks: its answers, the share predicted positive, and whether you can stop."""

from __future__ import annotations

import numpy as np

from tellmore.display import curve, table
from tellmore.policy.words import percent
from tellmore.predictor import Predictor


def summary(learner: Predictor, asks: str) -> str:
    """A table in HTML, with a curve of how many predictions the last answers changed; ``asks``: the kind of question."""
    tally, stop = learner.tally, learner.should_stop()
    rows = [
        ("items", f"{len(learner.pool)} of {learner.pool.d} dimensions, {learner.coordinates}"),
        ("asks", asks),
        ("answers", f"{tally.answers}, with {tally.positive} positive and {tally.negative} negative labels"),
        ("called positive", f"{percent(float(np.mean(learner.predict())))} of the items"),
        ("probabilities", str(learner.calibration)),
        ("enough?", f"{'yes' if stop else 'no'}: {stop.reason}"),
    ]
    changed = [100 * share for share in reversed(tally.changed)]
    return table(
        f"Learner on {learner.pool.name}", rows, curve(changed, "% of the items predicted differently, by answer")
    )
