"""`tellmore judge`: does another model judge correctly?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tellmore.cli.output import JsonOption, print_json, print_table
from tellmore.cli.project import IdColumnOption, ProjectArgument
from tellmore.policy.words import percent, range_words

if TYPE_CHECKING:
    from tellmore.data.project import Project
    from tellmore.data.settings import ProjectSettings
    from tellmore.store.judge import Verdict
    from tellmore.store.statistics import Accuracy

SHOWN = 10
LONGEST_TEXT = 60
HOW_TO_GET_MORE = "serve the project and answer; its setting check_share says how many questions are random (up to 0.9)"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("judge")(judge)


def judge(
    folder: ProjectArgument,
    scores_column: Annotated[str, typer.Option("--scores-column", help="Column with the model's scores.")] = "score",
    scores_file: Annotated[
        Path | None,
        typer.Option(
            "--scores-file",
            readable=False,
            help="CSV, JSONL or Parquet with id and score. [default: the column that the project keeps]",
        ),
    ] = None,
    id_column: IdColumnOption = "id",
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            help="Scores from this number on mean positive. [default: 0.5 if all are within 0 to 1, else 0]",
        ),
    ] = None,
    positive_value: Annotated[
        str | None, typer.Option("--positive-value", help="Score that means positive, if scores are words.")
    ] = None,
    negative_value: Annotated[
        str | None,
        typer.Option(
            "--negative-value", help="Score that means negative; others count as no score. [default: all others]"
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Check another model's judgement against people's answers."""
    from tellmore.data.project import open_project
    from tellmore.data.scores import Meaning, read_scores
    from tellmore.errors import StateError
    from tellmore.store.judge import random_checks, skipped_checks, verdict
    from tellmore.store.state import load_ledger

    project = open_project(folder)
    meaning = Meaning(threshold, positive_value, negative_value)
    scores = read_scores(project, scores_column, meaning, file=scores_file, id_column=id_column)
    ledger = load_ledger(project)
    found = verdict(random_checks(ledger), scores, skipped=skipped_checks(ledger))
    if found is None:
        raise StateError(f"no random question about a scored item has been answered yet; {HOW_TO_GET_MORE}")
    if json:
        print_json({"items": len(project.items), "column": scores_column, **found.as_dict()})
    else:
        _print(project, ledger.settings.project, scores_column, found)


def _print(project: Project, words: ProjectSettings, column: str, found: Verdict) -> None:
    typer.echo(f"{column}: {found.rule}; {found.scored} of {len(project.items)} items have a score")
    left_out = [
        f"{count} {what}"
        for count, what in ((found.without_score, "on items without a score"), (found.skipped, "skipped"))
        if count
    ]
    typer.echo(f"{found.checks} random answers" + (f" ({', '.join(left_out)}, left out)" if left_out else ""))
    if found.earlier:
        typer.echo(f"{found.earlier} of them were drawn before texts were added, from the earlier items only.")
    if not found.enough:
        typer.echo(
            f"That is too few to judge by: the intervals show how little is known. To get more, {HOW_TO_GET_MORE}."
        )
    typer.echo(
        f"It agrees with people on {_range(found.agreement)}. The more common answer alone agrees on {percent(found.commoner)}."
    )
    print_table(
        ["", f"people: {words.positive}", f"people: {words.negative}"],
        [
            [f"judge: {words.positive}", found.both_positive, found.judge_only],
            [f"judge: {words.negative}", found.people_only, found.both_negative],
        ],
    )
    if found.precision is not None:
        typer.echo(f"Of what it calls {words.positive}, people agree on {_range(found.precision)}.")
    if found.recall is not None:
        typer.echo(f"Of what people call {words.positive}, it finds {_range(found.recall)}.")
    print_table(
        ["score", "answers", "mean score", f"{words.positive} to people", "95 % from", "to"],
        [
            [each.scores, each.n, each.mean_score, *(round(part, 3) for part in (of.estimate, of.low, of.high))]
            for each, of in ((each, each.positive) for each in found.calibration)
        ],
    )
    _print_wrong(project, words, found)
    share = found.share
    typer.echo(
        f"Share of {words.positive} among the scored items: {percent(share.estimate, 1)} (95 % interval: "
        f"{range_words(share.low, share.high, 1)}), from all scores corrected by the answers. The scores alone say "
        f"{percent(share.judge, 1)}, the answers alone {_range(share.people)}."
    )
    typer.echo(f"{share.more_to_halve} more random answers would halve that interval.")


def _print_wrong(project: Project, words: ProjectSettings, found: Verdict) -> None:
    if not found.wrong_most:
        typer.echo("It was wrong on none of them.")
        return
    text_of = {item["id"]: str(item.get("text", "")) for item in project.items}
    print_table(
        ["wrong most on", "text", "score", "judge", "answers against"],
        [
            [
                each.item,
                _short(text_of[each.item]),
                each.score,
                words.positive if each.judge_positive else words.negative,
                f"{each.wrong} of {each.answers}",
            ]
            for each in found.wrong_most[:SHOWN]
        ],
    )
    if len(found.wrong_most) > SHOWN:
        typer.echo(f"{len(found.wrong_most) - SHOWN} more such items are in --json.")


def _range(of: Accuracy) -> str:
    return f"{percent(of.estimate)} (95 % interval: {range_words(of.low, of.high)}; {of.correct} of {of.n})"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST_TEXT else flat[: LONGEST_TEXT - 1] + "…"
