"""`tellmore race`: the learner compared with other methods."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tellmore.cli.lab import CacheOption, DaskOption, JobsOption, TrialBar
from tellmore.cli.output import JsonOption, bar, print_json


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command()(race)


def race(
    out: Annotated[Path, typer.Option("--out", help="Folder for the table, the rows and the picture.")],
    pool: Annotated[
        list[str] | None,
        typer.Option(
            "--pool",
            help="words, an .npz file, a project, or a dataset such as digits=8 or breast-cancer; add `,5%` for 5 % positives; "
            "repeatable. [default: six, and those of the data folder]",
        ),
    ] = None,
    contender: Annotated[
        list[str] | None,
        typer.Option(
            "--contender",
            help="A method to compare, such as auto, rank-4, auto+words, bald; repeatable. [default: all]",
        ),
    ] = None,
    peers: Annotated[
        Path | None,
        typer.Option("--peers", help="race.csv of an earlier race: compare with its peers instead of running them."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", help="Trials of each on each pool. [default: 5; quick: 2]")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="Human time per trial. [default: 1800; quick: 60]")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Two pools, two seeds, one minute: a first impression.")
    ] = False,
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder of other pools. [default: the variable TELLMORE_DATA]")
    ] = None,
    jobs: JobsOption = 0,
    dask: DaskOption = None,
    cache: CacheOption = None,
    json: JsonOption = False,
) -> None:
    """Compare the learner with other methods."""
    from tellmore.errors import SettingError
    from tellmore.figures.bench import Bench, Plan, data_folder
    from tellmore.figures.exhibit import Exhibit
    from tellmore.figures.race import CONTENDERS, Race, earlier_rows, sentence, sources_of, with_earlier_peers
    from tellmore.figures.race_table import picture, tables
    from tellmore.figures.reproduce import produce
    from tellmore.files import write_whole
    from tellmore.sim.contenders import OWN
    from tellmore.sim.distribute import Workforce
    from tellmore.sim.trials import default_folder, writable_folder

    number = (2 if quick else 5) if seeds is None else seeds
    if number < 1:
        raise SettingError(f"at least 1 seed is needed, not {number}")
    earlier = [] if peers is None else earlier_rows(peers)
    folder = writable_folder(out)
    with bar() as shown:
        trials = TrialBar(shown)
        trials.announce("race")
        bench = Bench(
            Plan(seeds=number, answers=1, stop_at=None, quick=quick),
            cache or default_folder().parent,
            data_folder(data),
            Workforce(jobs, dask),
            report=lambda _config, _trial: trials.advance(),
            expect=trials.expect,
        )
        course = Race(
            sources_of(pool or [], bench),
            tuple(dict.fromkeys(contender or (OWN if earlier else CONTENDERS))),
            (60.0 if quick else 1800.0) if seconds is None else seconds,
        )
        rows = course.rows(bench)
        if earlier:
            rows = with_earlier_peers(rows, earlier)
    outcome = produce(Exhibit("race", "The race", lambda _: rows, picture, sentence), bench, folder)
    write_whole(folder / "tables.md", tables(rows))
    if json:
        print_json(rows)
        return
    typer.echo(outcome.sentence)
    typer.echo(f"table: {folder / 'tables.md'}")
