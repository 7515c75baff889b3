"""``tellmore rates``: bits, seconds and bits per second of every kind and size of question."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tellmore.cli.output import JsonOption, MatrixOption, print_json, print_table, progress
from tellmore.errors import SettingError

if TYPE_CHECKING:
    from tellmore.learner import Learner
    from tellmore.policy.cost import CostModel
    from tellmore.policy.rates import Rate


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("rates")(rates)


def rates(
    project: Annotated[
        Path | None, typer.Argument(help="A project's folder, to use its answers and times.", show_default=False)
    ] = None,
    pool: Annotated[
        str | None,
        typer.Option("--pool", help="A pool instead, before any answer and with the default times."),
    ] = None,
    matrix: MatrixOption = "X",
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", help="A kind to measure, such as most_sure; repeatable. [default: what auto may ask]"),
    ] = None,
    repeats: Annotated[
        int, typer.Option("--repeats", help="How often to measure, for the standard errors.", min=1)
    ] = 5,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the measurements.", min=0)] = 0,
    json: JsonOption = False,
    plot: Annotated[Path | None, typer.Option("--plot", help="Also write a plot: .png, .svg or .pdf.")] = None,
) -> None:
    """Show bits per second of questions, by kind and size."""
    if (project is None) == (pool is None):
        raise typer.BadParameter("name either a project's folder or --pool, not both")
    learner, cost = _of_project(project) if project is not None else _of_pool(str(pool), matrix)
    with progress("measuring"):
        table = _measured(learner, cost, kind, repeats, seed)
    rows = [vars(rate) for rate in table]
    if plot is not None:
        _draw(rows, plot)
    if json:
        print_json({"rows": rows})
        return
    columns = ["kind", "size", "bits", "± s.e.", "seconds", "bits per second", ""]
    body = [[r.kind, r.size, r.bits, r.bits_se, r.seconds, r.bits_per_second, "best" if r.best else ""] for r in table]
    print_table(columns, body)


def _of_project(folder: Path) -> tuple[Learner, CostModel]:
    from tellmore.data.project import open_project
    from tellmore.store.state import load_state
    from tellmore.store.statistics import fitted_cost

    state = load_state(open_project(folder))
    return state.learner, fitted_cost(state.ledger)


def _of_pool(name: str, matrix: str) -> tuple[Learner, CostModel]:
    from tellmore.data.bundled import load_pool
    from tellmore.learner import Learner
    from tellmore.policy.cost import PAPER_COST

    return Learner(load_pool(name, matrix=matrix)), PAPER_COST


def _measured(learner: Learner, cost: CostModel, kinds: list[str] | None, repeats: int, seed: int) -> tuple[Rate, ...]:
    import numpy as np

    from tellmore.policy.rates import rates

    rng = np.random.default_rng(seed)
    return rates(learner.scan, learner.belief, learner.behaviour, kinds=kinds, cost=cost, rng=rng, repeats=repeats)


def _draw(rows: list[dict[str, Any]], path: Path) -> None:
    from tellmore.study.plots import rates_figure

    if path.suffix not in (".png", ".svg", ".pdf"):
        raise SettingError(f"--plot {path}: name a file that ends in .png, .svg or .pdf")
    if not path.parent.is_dir():
        raise SettingError(f"--plot {path}: there is no folder {path.parent}; create it first")
    rates_figure(rows).savefig(path)
