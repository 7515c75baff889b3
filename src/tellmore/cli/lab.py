"""Commands of the laboratory: `tellmore simulate` and `tellmore reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tellmore.cli.output import JsonOption, MatrixOption, PoolOption, TeamOption, bar, print_json, print_table, progress

if TYPE_CHECKING:
    from tellmore.sim.config import Config
    from tellmore.sim.rows import Trial

CacheOption = Annotated[
    Path | None, typer.Option("--cache", help="Folder of finished trials, which are not run again.")
]
DaskOption = Annotated[
    str | None, typer.Option("--dask", help="Run on Dask: local, or the address of a scheduler, tcp://host:port.")
]
JobsOption = Annotated[int, typer.Option("--jobs", help="Processes at once; 0: one per core, 1: no extra process.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(simulate)
    app.command()(reproduce)


def simulate(
    pool: PoolOption = "words",
    question: Annotated[
        str,
        typer.Option(
            "--question", help="A kind of question (label, select, rank, tick, …), or auto: the most efficient."
        ),
    ] = "rank",
    size: Annotated[int | None, typer.Option("--size", help="Items shown. [default: 4, or 12 to tick]")] = None,
    answers: Annotated[
        int | None,
        typer.Option("--answers", help="Answers per trial. [default: 100; with --seconds, no limit]"),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", help="Human time per trial; the answer being given at that moment is the last."),
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", help="Trials, with the seeds 0, 1, …")] = 10,
    acquisition: Annotated[
        Literal["greedy", "random", "particles"],
        typer.Option("--acquisition", help="How the items of a question are chosen."),
    ] = "greedy",
    mode: Annotated[
        Literal["default", "paper", "as-printed", "as-authors"],
        typer.Option(
            "--mode",
            help="default does not use the scores. The others fit w and K to them: as-printed is Algorithms 1 to 5, as-authors "
            "the authors' code, paper is as-printed with a random unit start and a renormalised mean.",
        ),
    ] = "default",
    matrix: MatrixOption = "X",
    annotator: Annotated[
        Literal["auto", "gaussian", "histogram", "model"],
        typer.Option(
            "--annotator", help="Where the scores come from; auto: ratings if there are any, else mean and sd."
        ),
    ] = "auto",
    lapse: Annotated[float, typer.Option("--lapse", help="Share of random answers.")] = 0.0,
    drift: Annotated[float, typer.Option("--drift", help="Shift of standards per 100 answers, in sd of scores.")] = 0.0,
    fatigue: Annotated[float, typer.Option("--fatigue", help="Added noise per 100 answers, in sd of scores.")] = 0.0,
    slowing: Annotated[float, typer.Option("--slowing", help="Fraction slower per 100 answers.")] = 0.0,
    team: TeamOption = "",
    stop_at: Annotated[float | None, typer.Option("--stop-at", help="End a trial at this accuracy.")] = None,
    target: Annotated[
        list[float] | None,
        typer.Option("--target", help="An accuracy to reach; repeatable. [default: 0.7, 0.75 and 0.8]"),
    ] = None,
    like: Annotated[
        list[str] | None,
        typer.Option("--like", help="Items to start from: ids or texts, separated by commas; repeatable."),
    ] = None,
    unlike: Annotated[list[str] | None, typer.Option("--unlike", help="The same for the opposite.")] = None,
    scores_column: Annotated[
        str, typer.Option("--scores-column", help="Array of the pool's file with another model's scores to start from.")
    ] = "",
    scores_right: Annotated[
        float | None,
        typer.Option("--scores-right", help="Start from a yes or no for every item, of which this share is right."),
    ] = None,
    jobs: JobsOption = 0,
    dask: DaskOption = None,
    cache: CacheOption = None,
    json: JsonOption = False,
) -> None:
    """Let simulated people answer, and measure what is learnt."""
    from tellmore.errors import SettingError
    from tellmore.sim.config import Config
    from tellmore.sim.distribute import Workforce, run_trials
    from tellmore.sim.pools import absolute
    from tellmore.sim.summary import TARGETS, summarise
    from tellmore.sim.trials import Ledger, default_folder
    from tellmore.sim.truth import load_truth

    if seeds < 1:
        raise SettingError(f"at least 1 seed is needed, not {seeds}")
    targets = sorted(set(target or TARGETS))
    if not 0 < targets[0] <= targets[-1] <= 1:
        raise SettingError(f"a target is an accuracy above 0 and at most 1, not {', '.join(f'{t:g}' for t in targets)}")
    config = Config(
        pool=absolute(pool),
        question=question,
        size=size,
        answers=100 if answers is None and seconds is None else answers,
        seconds=seconds,
        acquisition=acquisition,
        mode=mode,
        matrix=matrix,
        annotator=annotator,
        lapse=lapse,
        drift=drift,
        fatigue=fatigue,
        slowing=slowing,
        team=team,
        stop_at=stop_at,
        like=_names(like),
        unlike=_names(unlike),
        scores_column=scores_column,
        scores_right=scores_right,
    )
    truth = load_truth(config.pool, matrix)
    ledger = Ledger(cache or default_folder())
    tasks = [(config, seed) for seed in range(seeds)]
    with progress("trials", seeds) as advance:
        done = run_trials(
            tasks, workforce=Workforce(jobs, dask), ledger=ledger, report=lambda _config, _trial: advance()
        )
    trials = [done[task] for task in tasks]
    about = {
        "name": truth.pool.name,
        "items": len(truth.pool),
        "dimensions": truth.pool.d,
        "counted": int(truth.counted.sum()),
        "spread": truth.scores.has_spread,
    }
    summary = summarise(config, trials, pool=about, targets=targets)
    if json:
        print_json(summary)
    else:
        _print_summary(config, summary, trials)


def _names(given: list[str] | None) -> tuple[str, ...]:
    return tuple(name.strip() for names in given or () for name in names.split(",") if name.strip())


def _print_summary(config: Config, summary: dict[str, Any], trials: list[Trial]) -> None:
    about = summary["pool"]
    counted = "non-neutral items" if about["spread"] else "items (no spread is known: scores are certain, all count)"
    typer.echo(f"{about['name']}: accuracy on {about['counted']} of {about['items']} {counted}")
    if trials[0].notes:
        typer.echo(
            "fitted from the scores: " + ", ".join(f"{name} = {value:.2f}" for name, value in trials[0].notes.items())
        )
    last = [trial.rows[-1] for trial in trials]
    shown = {row.answer for row in last}
    end = f"{shown.pop()}" if len(shown) == 1 else f"up to {max(shown)}"
    mean = sum(row.accuracy for row in last) / len(last)
    typer.echo(
        f"{config.title}, {config.mode} mode: accuracy {mean:.3f} after {end} answers, mean of {len(trials)} seeds"
    )
    rows = []
    for target, reach in summary["to_accuracy"].items():
        answers, seconds = reach["interactions"], reach["seconds"]
        reached = f"{answers['reached']} of {len(trials)}"
        counts = [answers["mean"], answers["se"], reached, answers["sustained"], answers["mean_curve"]]
        lasting = summary["lasting"][target]
        rows.append([f"{float(target) * 100:g}%", *counts, seconds["mean"], seconds["se"], lasting])
    columns = [
        "accuracy",
        "answers",
        "± se",
        "seeds that reached it",
        "sustained from",
        "mean curve",
        "seconds",
        "± se",
    ]
    print_table([*columns, "lasting from second"], rows)
    _print_marks(config, summary, len(trials))
    if "people" in summary:
        _print_people(summary["people"])


def _print_people(people: list[dict[str, Any]]) -> None:
    rows = []
    for one in people:
        effects = [one[name] for name in ("first", "first_se", "before", "before_se")]
        rounded = [value if value is None else round(value, 3) for value in effects]
        rows.append([one["person"], f"{one['noticed']} of {one['trials']}", one["at"], *rounded])
    print_table(
        ["person", "noticed to tire", "at answer", "chooses the first", "± se", "after positives", "± se"], rows
    )
    typer.echo(
        "Chooses the first: how much more often than predicted; after positives: how much more often says positive."
    )


def _print_marks(config: Config, summary: dict[str, Any], trials: int) -> None:
    rows = []
    for mark, found in summary["at_seconds"].items():
        measured = [found[name][part] for name in ("accuracy", "f1", "average_precision") for part in ("mean", "se")]
        rounded = [value if value is None else round(value, 4) for value in measured]
        rows.append([int(mark), *rounded, f"{found['runs']} of {trials}"])
    print_table(["seconds", "accuracy", "± se", "F1", "± se", "average precision", "± se", "seeds"], rows)
    short = [mark for mark, found in summary["at_seconds"].items() if found["runs"] < trials]
    if not short:
        return
    until = summary["known_until_seconds"]
    typer.echo(
        f"The shortest trial lasted {until:.0f} s: later means are over the seeds that lasted that long; a dash means none did."
    )
    if config.stop_at is not None:
        typer.echo("--stop-at ends the best trials first, so later means are of the worse ones.")
    else:
        typer.echo(f"--seconds {short[-1]} lets every trial last to the last mark.")


def reproduce(
    names: Annotated[list[str], typer.Argument(help="Names such as fig3, table1, claims; or all.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for pictures, rows and the report.")],
    quick: Annotated[
        bool, typer.Option("--quick", help="Few seeds and answers: a first impression in ten minutes.")
    ] = False,
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder of other pools. [default: the variable TELLMORE_DATA]")
    ] = None,
    seeds: Annotated[int | None, typer.Option("--seeds", help="Trials per setting, instead of the plan's.")] = None,
    jobs: JobsOption = 0,
    dask: DaskOption = None,
    stored: Annotated[
        bool, typer.Option("--stored", help="Run nothing; show the finished trials of an earlier run in the folder.")
    ] = False,
    earlier: Annotated[
        Path | None,
        typer.Option(
            "--earlier", help="Folder with tables of an earlier run; settings with more seeds there come from them."
        ),
    ] = None,
    mode: Annotated[
        list[str] | None,
        typer.Option("--mode", help="Use only trials of this mode; repeatable. [default: all modes that are needed]"),
    ] = None,
    page: Annotated[Path | None, typer.Option("--page", help="Write the results page (Markdown) here too.")] = None,
    json: JsonOption = False,
) -> None:
    """Reproduce the figures, tables and claims of the paper."""
    from dataclasses import replace
    from typing import get_args

    from tellmore.figures.bench import FULL, QUICK, Bench, data_folder
    from tellmore.figures.registry import chosen
    from tellmore.figures.report import write_page, write_report
    from tellmore.figures.reproduce import produce_all
    from tellmore.options import one_of
    from tellmore.sim.config import Mode
    from tellmore.sim.distribute import Workforce
    from tellmore.sim.trials import writable_folder

    exhibits = chosen(names)
    for one in mode or ():
        one_of("mode", one, get_args(Mode))
    plan = QUICK if quick else FULL
    if seeds is not None:
        plan = replace(plan, seeds=seeds)
    folder = writable_folder(out)
    with bar() as shown:
        trials = TrialBar(shown)
        bench = Bench(
            plan,
            folder / "cache",
            data_folder(data),
            Workforce(jobs, dask),
            report=lambda _config, _trial: trials.advance(),
            expect=trials.expect,
            stored=stored,
            earlier=earlier,
            modes=tuple(mode or ()),
        )
        outcomes = produce_all(exhibits, bench, folder, announce=lambda exhibit: trials.announce(exhibit.title))
    report = write_report(outcomes, bench, folder)
    if page is not None:
        write_page(outcomes, bench, folder, page)
    if json:
        print_json([vars(outcome) for outcome in outcomes])
        return
    for outcome in outcomes:
        typer.echo(f"{outcome.name}: {outcome.sentence}")
    typer.echo(f"report: {report}")


class TrialBar:
    """A progress bar that names the current figure or table; its total grows as trials are announced."""

    def __init__(self, shown: Any) -> None:
        self._bar = shown
        self._task: Any = None

    def announce(self, title: str) -> None:
        """Start a new bar with this ``title``."""
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._task = self._bar.add_task(title, total=None)

    def expect(self, trials: int) -> None:
        """Add ``trials`` to the total."""
        total = self._bar.tasks[-1].total or 0
        self._bar.update(self._task, total=total + trials)

    def advance(self) -> None:
        """Count one finished trial."""
        self._bar.advance(self._task)
