"""Draws docs/images/curve.png: the accuracy that simulated people reach on the bundled words, by answers and by minutes.

python scripts/draw_learning_curve.py [--seeds 10] [--answers 60]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from tellmore.data.bundled import load_pool
from tellmore.plotting import kind_colour, new_figure
from tellmore.sim.config import Config
from tellmore.sim.distribute import Workforce, run_trials
from tellmore.sim.trials import Ledger

OUT = Path(__file__).resolve().parents[1] / "docs" / "images" / "curve.png"
SETTINGS = {"label one word": ("label", 1), "pick one of 4 and label it": ("select", 4), "rank 4": ("rank", 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pool", default="words", help="a bundled name or a path")
    parser.add_argument("--title", help="instead of the pool's name")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--answers", type=int, default=60)
    options = parser.parse_args()
    configs = {
        name: Config(pool=options.pool, question=question, size=size, answers=options.answers)
        for name, (question, size) in SETTINGS.items()
    }
    tasks = [(config, seed) for config in configs.values() for seed in range(options.seeds)]
    done = run_trials(tasks, workforce=Workforce(), ledger=Ledger(Path("build/curve")))
    figure, axes = new_figure(1, 2, width=4.2, height=2.9)
    by_answer, by_minute = axes[0]
    for name, config in configs.items():
        trials = [done[config, seed] for seed in range(options.seeds)]
        accuracy = 100 * np.array([trial.column("accuracy") for trial in trials])
        minutes = np.array([trial.column("seconds") for trial in trials]).mean(axis=0) / 60
        mean, se = accuracy.mean(axis=0), accuracy.std(axis=0, ddof=1) / np.sqrt(options.seeds)
        for axis, x in ((by_answer, np.arange(1, options.answers + 1)), (by_minute, minutes)):
            colour = kind_colour(config.question)
            axis.plot(x, mean, color=colour, label=name)
            axis.fill_between(x, mean - se, mean + se, color=colour, alpha=0.18, linewidth=0)
    minutes_shown = min(line.get_xdata()[-1] for line in by_minute.get_lines())
    by_answer.set(xlabel="answers", ylabel="items right (%)")
    by_minute.set(xlabel="minutes of a person's time", xlim=(0, minutes_shown), ylim=by_answer.get_ylim())
    by_answer.legend(loc="lower right")
    title = options.title or load_pool(options.pool).name
    figure.suptitle(f"{title}: mean and standard error of {options.seeds} simulated people", fontsize=9)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(OUT, dpi=150)
    print(f"wrote {OUT.relative_to(Path.cwd())}")


if __name__ == "__main__":
    main()
