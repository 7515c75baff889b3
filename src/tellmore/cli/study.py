"""``tellmore study init``, ``serve`` and ``analyse``: response-time studies from the design to the report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tellmore.cli.output import JsonOption, MatrixOption, print_json, print_table, progress
from tellmore.cli.serve import AllowHost, Host, Port
from tellmore.errors import SettingError

if TYPE_CHECKING:
    from tellmore.data.project import Project
    from tellmore.study.analysis import Analysis
    from tellmore.study.settings import Study

FolderArgument = Annotated[Path, typer.Argument(help="The study's folder.", show_default=False)]
PROLIFIC = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    group = typer.Typer(no_args_is_help=True, help="Run a response-time study with people, and analyse it.")
    group.command("init")(init)
    group.command("serve")(serve)
    group.command("simulate")(simulate)
    group.command("analyse")(analyse)
    app.add_typer(group, name="study")


def init(
    folder: Annotated[
        Path, typer.Argument(help="Folder to be made, or a project that is to hold the study.", show_default=False)
    ],
    preset: Annotated[str, typer.Option("--preset", help="The study to start from: paper.")] = "paper",
    pool: Annotated[str, typer.Option("--pool", help="Items of a new folder: words, or an .npz file.")] = "words",
    matrix: MatrixOption = "X",
    seed: Annotated[int, typer.Option("--seed", help="Seed of the design and of the learning run.", min=0)] = 0,
    redraw: Annotated[bool, typer.Option("--redraw", help="Keep study.toml; draw its questions anew.")] = False,
) -> None:
    """Write study.toml and draw its questions from a learning run."""
    from secrets import token_hex

    from tellmore import load_pool
    from tellmore.study.bank import BANK_FILE, write_bank
    from tellmore.study.create import create_study, draw_bank
    from tellmore.study.presets import preset as make
    from tellmore.study.settings import STUDY_FILE

    path = folder / STUDY_FILE
    if path.exists() != redraw:
        wrong = "exists already; edit it, or add --redraw for new questions" if path.exists() else "is not there yet"
        raise SettingError(f"{path} {wrong}")
    if redraw:
        project, study = _open(folder)
        with progress("learning run", max(stage.last for stage in study.stages)) as advance:
            bank = draw_bank(study, project.pool, seed=seed, progress=lambda _done, _total: advance())
        write_bank(folder / BANK_FILE, bank)
    else:
        study = make(preset, lambda: token_hex(4).upper(), seed=seed)
        with progress("learning run", max(stage.last for stage in study.stages)) as advance:
            _, bank = create_study(
                folder,
                study,
                lambda: load_pool(pool, matrix=matrix),
                seed=seed,
                progress=lambda _done, _total: advance(),
            )
    typer.echo(f"{len(bank)} questions drawn. Read and edit {path}, then: tellmore study serve {folder}")


def _open(folder: Path) -> tuple[Project, Study]:
    from tellmore.data.project import open_project
    from tellmore.study.settings import STUDY_FILE, read_study

    return open_project(folder), read_study(folder / STUDY_FILE)


def serve(
    folder: FolderArgument,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    allow_host: AllowHost = None,
) -> None:
    """Let participants take part; each comes back to where they stopped."""
    from tellmore.app.participants import serve_study

    project, study = _open(folder)
    serve_study(project, study, say=_say_participants_address, host=host, port=port, allow_hosts=allow_host or ())


def _say_participants_address(line: str) -> None:
    """Print a line of the server; after the owner's address also that of the participants."""
    typer.echo(line)
    found = re.match(r"Open (https?://[^/]+)/", line)
    if found:
        typer.echo(f"Participants come to {found[1]}/study?participant=THEIR-ID")
        typer.echo(f"On Prolific, the study's address ends in /study?{PROLIFIC}")


def simulate(
    folder: FolderArgument,
    participants: Annotated[int, typer.Option("--participants", help="How many people.", min=1)] = 80,
    inattentive: Annotated[int, typer.Option("--inattentive", help="How many of them miss gold questions.", min=0)] = 8,
    declining: Annotated[int, typer.Option("--declining", help="How many of them do not consent.", min=0)] = 0,
    failing: Annotated[int, typer.Option("--failing", help="How many of them fail the check.", min=0)] = 0,
    seed: Annotated[int, typer.Option("--seed", help="Seed of answers and times.", min=0)] = 0,
) -> None:
    """Try a study out: simulated people drive its real server."""
    from tellmore.study.simulate import crowd, run_crowd, served_study

    _, study = _open(folder)
    people = crowd(participants, inattentive=inattentive, declining=declining, failing=failing, seed=seed)
    with served_study(folder) as (host, port), progress("participants", len(people)) as advance:
        states = run_crowd(host, port, study, people, seed=seed, progress=advance)
    finished = sum(state["outcome"] == "complete" for state in states)
    typer.echo(f"{finished} of {len(people)} simulated participants completed. Next: tellmore study analyse {folder}")


def analyse(
    folder: FolderArgument,
    out: Annotated[
        Path | None, typer.Option("--out", help="The report; default: FOLDER/study_report.html.", show_default=False)
    ] = None,
    json: JsonOption = False,
    answers: Annotated[
        Path | None, typer.Option("--answers", help="Also write every answer, pseudonymised, to this CSV file.")
    ] = None,
) -> None:
    """Exclusions, time models, tests and figures as one HTML report."""
    from tellmore.files import write_whole
    from tellmore.study.analysis import analyse as analyse_records
    from tellmore.study.records import answers_csv, has_simulated, read_records, study_events
    from tellmore.study.report import report_html

    project, study = _open(folder)
    events = study_events(project.database_url)
    records, simulated = read_records(study, events), has_simulated(events)
    analysis = analyse_records(records, study.design.kinds, pay=study.pay.amount)
    path = out or folder / "study_report.html"
    write_whole(path, report_html(study, records, analysis, simulated=simulated))
    if answers is not None:
        write_whole(answers, answers_csv(records))
    if json:
        print_json({"report": str(path), "simulated": simulated, **analysis.as_json()})
        return
    _print_analysis(analysis)
    typer.echo(f"Report: {path}")


def _print_analysis(analysis: Analysis) -> None:
    steps: list[list[Any]] = [[s.kind, s.step, s.participants, s.answers] for s in analysis.exclusions]
    print_table(["question", "after this step", "participants", "answers"], steps)
    fits = [
        [f.kind, f.form, f.b0, f.b0_se, f.b1, f.b1_se, f.r2, f.r2_adjusted, f.mse, f.n] for f in analysis.candidates
    ]
    print_table(["question", "model", "b0", "s.e.", "b1", "s.e.", "R²", "adj. R²", "MSE", "N"], fits)
    tests = [[kind, test.z, test.p] for kind, test in analysis.tests.items()]
    print_table(["question", "Vuong z (above 0: linear)", "p"], tests)
    print_table(["question", "ANCOVA of stage, F", "p"], [[t.kind, t.f, t.p] for t in analysis.ancova])
    for note in analysis.notes:
        typer.echo(f"note: {note}")
