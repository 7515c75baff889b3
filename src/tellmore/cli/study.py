"""``tellmore study``: response-time studies from the design to the report, and the deletion of participants' data."""

from __future__ import annotations

import re
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tellmore.cli.output import JsonOption, MatrixOption, print_json, print_table, progress
from tellmore.cli.serve import AllowHost, Host, LogFormatOption, Port, PublicUrl, TrustedProxy
from tellmore.errors import SettingError

if TYPE_CHECKING:
    from tellmore.data.project import Project
    from tellmore.study.analysis import Analysis
    from tellmore.study.settings import Study

SpeedSd = Annotated[
    float, typer.Option("--speed-sd", help="How much people differ in speed: s.d. of its logarithm.", min=0, max=2)
]
FolderArgument = Annotated[Path, typer.Argument(help="The study's folder.", show_default=False)]
PROLIFIC = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    group = typer.Typer(no_args_is_help=True, help="Run a response-time study with people, and analyse it.")
    for command in (init, power, register_plan, serve, link, simulate, analyse, forget):
        group.command("register" if command is register_plan else command.__name__)(command)
    app.add_typer(group, name="study")


def init(
    folder: Annotated[
        Path, typer.Argument(help="Folder to create, or an existing project to use.", show_default=False)
    ],
    preset: Annotated[str, typer.Option("--preset", help="The study to start from: paper, or grid.")] = "paper",
    pool: Annotated[str, typer.Option("--pool", help="Items of a new folder: words, or an .npz file.")] = "words",
    matrix: MatrixOption = "X",
    seed: Annotated[int, typer.Option("--seed", help="Seed of the design and of the learning run.", min=0)] = 0,
    redraw: Annotated[bool, typer.Option("--redraw", help="Keep study.toml; draw new questions.")] = False,
) -> None:
    """Write study.toml and take the questions from a simulated learning run."""
    from secrets import token_hex

    from tellmore import load_pool
    from tellmore.study.bank import BANK_FILE, write_bank
    from tellmore.study.create import create_study, draw_bank
    from tellmore.study.presets import preset as make
    from tellmore.study.settings import STUDY_FILE

    path = folder / STUDY_FILE
    if path.exists() != redraw:
        wrong = "already exists; edit it, or add --redraw for new questions" if path.exists() else "does not exist yet"
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


def power(
    folder: Annotated[
        Path | None, typer.Argument(help="The study's folder; without one, the study of --preset.", show_default=False)
    ] = None,
    difference: Annotated[
        float, typer.Option("--difference", help="Difference of slopes to detect, in seconds per item.")
    ] = 0.2,
    kind: Annotated[
        list[str] | None, typer.Option("--kind", help="Kind of question; may be repeated. Default: all.")
    ] = None,
    groups: Annotated[
        int, typer.Option("--groups", help="2: two groups are compared; 1: one group and a known slope.", min=1, max=2)
    ] = 2,
    wanted: Annotated[float, typer.Option("--power", help="Chance of detecting the difference.")] = 0.8,
    alpha: Annotated[float, typer.Option("--alpha", help="Level of the two-sided test.")] = 0.05,
    excluded: Annotated[
        float,
        typer.Option("--excluded", help="Share of participants who will be excluded, for example by gold questions."),
    ] = 0.0,
    speed_sd: SpeedSd = 0.3,
    replicates: Annotated[
        int, typer.Option("--replicates", help="Simulated studies that check the number; 0 for none.", min=0)
    ] = 100,
    preset: Annotated[str, typer.Option("--preset", help="The study to plan: paper, or grid.")] = "paper",
    seed: Annotated[int, typer.Option("--seed", help="Seed of the simulated people.", min=0)] = 0,
    json: JsonOption = False,
) -> None:
    """Compute how many participants a difference between slopes needs."""
    from dataclasses import asdict

    from tellmore.study.power import Plan, participants_needed
    from tellmore.study.presets import preset as make

    study = make(preset, lambda: "CODE") if folder is None else _open(folder)[1]
    plan = Plan(difference, groups, wanted, alpha)
    options: dict[str, Any] = {"excluded": excluded, "speed_sd": speed_sd, "replicates": replicates, "seed": seed}
    needed = [participants_needed(study, name, plan, **options) for name in kind or study.design.kinds]
    if json:
        print_json({"rows": [asdict(row) for row in needed]})
        return
    header = [
        "question",
        "slope, s per item",
        "difference",
        "analysed in each group",
        "to recruit in all",
        "power, simulated",
    ]
    shown = [
        [n.kind, n.slope, n.difference, n.analysed_per_group, n.recruited, n.simulated_power if replicates else None]
        for n in needed
    ]
    print_table(header, shown)


def register_plan(
    folder: FolderArgument,
    out: Annotated[
        Path | None, typer.Option("--out", help="The file; default: FOLDER/preregistration.md.", show_default=False)
    ] = None,
) -> None:
    """Write the design and the analysis as a pre-registration, with hashes."""
    from tellmore import __version__
    from tellmore.files import write_whole
    from tellmore.study.bank import BANK_FILE, read_bank
    from tellmore.study.design import check_bank
    from tellmore.study.preregister import preregistration

    project, study = _open(folder)
    check_bank(study, read_bank(folder / BANK_FILE, project.pool.ids))
    path = out or folder / "preregistration.md"
    write_whole(path, preregistration(study, (folder / BANK_FILE).read_bytes(), version=__version__))
    typer.echo(f"{path}: read it, complete it, and deposit it before anybody takes part.")


def forget(
    folder: FolderArgument,
    who: Annotated[str, typer.Argument(help="Pseudonym (participant-00001) or external id.", show_default=False)],
) -> None:
    """Delete one participant's data, at their request."""
    from tellmore.study.forget import KEPT, forget_participant

    project, _ = _open(folder)
    gone = forget_participant(project.database_url, who)
    typer.echo(f"{gone.participant} is deleted: {gone.entries} entries of the log are now empty. {KEPT}")


def serve(
    folder: FolderArgument,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    allow_host: AllowHost = None,
    public_url: PublicUrl = "",
    trusted_proxy: TrustedProxy = None,
    log_format: LogFormatOption = "text",
) -> None:
    """Serve a study to participants; each continues where they stopped."""
    from tellmore.app.participants import serve_study

    project, study = _open(folder)
    serve_study(
        project,
        study,
        say=_say_participants_address,
        host=host,
        port=port,
        allow_hosts=allow_host or (),
        public_url=public_url,
        trusted_proxies=trusted_proxy or (),
        log_format=log_format,
    )


def link(
    folder: FolderArgument,
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of participants.", show_default=False)],
    public_url: PublicUrl = "",
) -> None:
    """Print a signed link for each id, to begin or continue in any browser."""
    from tellmore.study.entry import signed_links

    project, _ = _open(folder)
    for address in signed_links(project.database_url, ids, public_url):
        typer.echo(address)


def _say_participants_address(line: str) -> None:
    """Print a line of the server's output; after the owner's address, also print the participants' address."""
    typer.echo(line)
    found = re.match(r"Open (https?://[^/]+)/", line)
    if found:
        typer.echo(f"Participants open {found[1]}/study?participant=THEIR-ID")
        typer.echo(f"On Prolific, the study's address ends in /study?{PROLIFIC}")


def simulate(
    folder: FolderArgument,
    participants: Annotated[int, typer.Option("--participants", help="How many people.", min=1)] = 80,
    inattentive: Annotated[int, typer.Option("--inattentive", help="How many of them miss gold questions.", min=0)] = 8,
    declining: Annotated[int, typer.Option("--declining", help="How many of them do not consent.", min=0)] = 0,
    failing: Annotated[
        int, typer.Option("--failing", help="How many of them fail the comprehension check.", min=0)
    ] = 0,
    speed_sd: SpeedSd = 0.3,
    lapses: Annotated[
        float, typer.Option("--lapses", help="Mean share of answers given without looking.", min=0, max=1)
    ] = 0.01,
    seed: Annotated[int, typer.Option("--seed", help="Seed of answers and times.", min=0)] = 0,
) -> None:
    """Try a study out with simulated people on its real server."""
    from tellmore.study.entry import key_of
    from tellmore.study.people import crowd, people_cost
    from tellmore.study.simulate import run_crowd, served_study

    project, study = _open(folder)
    missing = dict.fromkeys(study.design.kinds, inattentive)
    people = crowd(
        participants,
        inattentive=missing,
        declining=declining,
        failing=failing,
        seed=seed,
        speed_sd=speed_sd,
        lapses=lapses,
    )
    cost, key = people_cost(study, speed_sd), key_of(project.database_url)
    with served_study(folder) as (host, port), progress("participants", len(people)) as advance:
        states = run_crowd(host, port, study, people, seed=seed, cost=cost, progress=advance, key=key)
    finished = sum(state["outcome"] == "complete" for state in states)
    after = f"tellmore study analyse {quote(str(folder))}"
    typer.echo(f"{finished} of {len(people)} simulated participants completed. Next: {after}")


def analyse(
    folder: FolderArgument,
    out: Annotated[
        Path | None, typer.Option("--out", help="The report; default: FOLDER/study_report.html.", show_default=False)
    ] = None,
    json: JsonOption = False,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Also write answers and participants as CSV, a codebook and an R script here."),
    ] = None,
) -> None:
    """Write exclusions, time models, tests and figures as one HTML report."""
    from tellmore.files import write_whole
    from tellmore.study.analysis import analyse as analyse_records
    from tellmore.study.dataset import dataset
    from tellmore.study.records import has_simulated, read_records, study_events, without_simulated
    from tellmore.study.report import report_html

    project, study = _open(folder)
    collected = study_events(project.database_url)
    events = without_simulated(collected)
    if len(events) < len(collected):
        typer.echo("note: simulated participants are left out, because people took part as well.", err=True)
    records, simulated = read_records(study, events), has_simulated(events)
    analysis = analyse_records(records, study.design.kinds, pay=study.pay.amount)
    path = out or folder / "study_report.html"
    write_whole(path, report_html(study, records, analysis, simulated=simulated))
    if data is not None:
        data.mkdir(parents=True, exist_ok=True)
        for name, content in dataset(study, records, analysis).items():
            write_whole(data / name, content)
    if json:
        print_json({"report": str(path), "simulated": simulated, **analysis.as_json()})
        return
    _print_analysis(analysis)
    typer.echo(f"Report: {path}")


def _print_analysis(analysis: Analysis) -> None:
    steps: list[list[Any]] = [[s.kind, s.step, s.participants, s.answers] for s in analysis.exclusions]
    print_table(["question", "after this step", "participants", "answers"], steps)
    fits = [
        [f.kind, f.form, f.b0, f.b1, f.b1_se, f.b1_se_clustered, f.r2, f.mse, f.n, f.participants]
        for f in analysis.candidates
    ]
    print_table(["question", "model", "b0", "b1", "s.e.", "clustered", "R²", "MSE", "N", "participants"], fits)
    mixed = [own.mixed for own in analysis.fits.values() if own.mixed is not None]
    rows = [[m.kind, m.b0, m.b1, m.b1_se, m.sd_intercept, m.sd_slope, m.sd_residual] for m in mixed]
    print_table(["mixed model", "b0", "b1", "s.e.", "s.d. of intercepts", "of slopes", "of one person's answers"], rows)
    tests = [
        [kind, test.z, test.p, "by participant" if test.clusters else "no"]
        for kind, own in analysis.fits.items()
        for test in (own.vuong, own.vuong_clustered)
        if test is not None
    ]
    print_table(["question", "Vuong z (above 0: linear)", "p", "clustered"], tests)
    stages = [
        [kind, test.f, test.p, "by participant" if test.clustered else "no"]
        for kind, own in analysis.fits.items()
        for test in (own.ancova, own.ancova_clustered)
        if test is not None
    ]
    print_table(["question", "ANCOVA of stage, F", "p", "clustered"], stages)
    for note in analysis.notes:
        typer.echo(f"note: {note}")
