"""Projects: create one, see its progress, add answers, export the classifier."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from tellmore.cli.output import JsonOption, is_terminal, print_changes, print_json, print_table, progress

if TYPE_CHECKING:
    from tellmore.data.project import Project
    from tellmore.store.state import State

# readable=False: our own readers report a file that cannot be read, in one line, like any other problem with it.
ProjectArgument = Annotated[Path, typer.Argument(readable=False, help="The project's folder.", show_default=False)]
EmbeddingsOption = Annotated[
    Path | None, typer.Option("--embeddings", readable=False, help="Ready vectors: .npz (ids, X), .npy or Parquet.")
]
EmbedOption = Annotated[
    str | None,
    typer.Option(
        "--embed",
        help="Make the vectors: tfidf, model2vec:NAME, onnx:MODEL.onnx, sentence-transformers:NAME, "
        "open_clip:MODEL/WEIGHTS or exec:COMMAND.",
    ),
]
EmbeddingIdsOption = Annotated[
    Path | None,
    typer.Option(
        "--embedding-ids", readable=False, help="Ids of a .npy's rows: text with one per line, .json or .npy."
    ),
]
ByRowOption = Annotated[bool, typer.Option("--by-row", help="Match rows to items by their order, not by id.")]
IdColumnOption = Annotated[str, typer.Option("--id-column", help="Column with the ids.")]
TextColumnOption = Annotated[str | None, typer.Option("--text-column", help="Column with the texts. [default: text]")]
ImageColumnOption = Annotated[
    str | None, typer.Option("--image-column", help="Column with paths of pictures. [default: image]")
]
VectorColumnsOption = Annotated[
    list[str] | None,
    typer.Option("--vector-columns", help="Parquet columns with the numbers: 'dim_*', or 'a,b'; repeatable."),
]
DelimiterOption = Annotated[str | None, typer.Option("--delimiter", help="Delimiter of a CSV. [default: detected]")]
EncodingOption = Annotated[
    str | None,
    typer.Option("--encoding", help="Encoding of a CSV, such as cp1252. [default: detected, or guessed and reported]"),
]
SkipBadOption = Annotated[
    Path | None, typer.Option("--skip-bad", readable=False, help="Leave out bad rows and list them in this file.")
]
SkipUnreadableOption = Annotated[
    bool, typer.Option("--skip-unreadable", help="Leave out pictures that cannot be read.")
]
LabelColumnOption = Annotated[
    str | None, typer.Option("--label-column", help="Column with known labels. [default: label]")
]
PositiveValueOption = Annotated[
    str | None,
    typer.Option(
        "--positive-value", help="Label that means positive, in upper or lower case. [default: positive, yes …]"
    ),
]
NegativeValueOption = Annotated[
    str | None,
    typer.Option(
        "--negative-value", help="Label that means negative, '*' for all others; needed if there are more than two."
    ),
]
DaskOption = Annotated[
    str | None,
    typer.Option(
        "--dask", help="Keep the items on Dask workers: local, or the address of a scheduler, tcp://host:port."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands of projects."""
    app.command("init")(init)
    app.command("status")(status)
    app.command("import")(import_answers)
    app.command("export")(export)
    app.command("score")(score)
    app.command("replay")(replay)


def init(
    folder: Annotated[Path, typer.Argument(readable=False, help="Folder to create.", show_default=False)],
    items: Annotated[
        Path,
        typer.Option("--items", readable=False, help="CSV, Excel, JSON, Parquet, a folder of pictures, or hf:DATASET."),
    ],
    attribute: Annotated[
        str, typer.Option("--attribute", help="What is judged: an adjective (friendly) or a phrase (a spam message).")
    ],
    embeddings: EmbeddingsOption = None,
    embed: EmbedOption = None,
    embedding_ids: EmbeddingIdsOption = None,
    by_row: ByRowOption = False,
    vector_columns: VectorColumnsOption = None,
    id_column: IdColumnOption = "id",
    text_column: TextColumnOption = None,
    image_column: ImageColumnOption = None,
    label_column: LabelColumnOption = None,
    positive_value: PositiveValueOption = None,
    negative_value: NegativeValueOption = None,
    keep_column: Annotated[
        list[str] | None,
        typer.Option("--keep-column", help="Column to keep with the items, such as a model's scores; repeatable."),
    ] = None,
    like: Annotated[
        list[str] | None,
        typer.Option(
            "--like", help="What you look for: words, or items by id or text, separated by commas; repeatable."
        ),
    ] = None,
    unlike: Annotated[list[str] | None, typer.Option("--unlike", help="The opposite, given in the same way.")] = None,
    scores_column: Annotated[
        str | None,
        typer.Option("--scores-column", help="Column with another model's scores to start from: numbers or words."),
    ] = None,
    prior_from: Annotated[
        Path | None,
        typer.Option("--prior-from", readable=False, help="Start from the classifier of this earlier project."),
    ] = None,
    instruction: Annotated[
        str | None, typer.Option("--instruction", help="What people read above every question. [default: asked for]")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="Name of the project. [default: the folder's]")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of all random numbers.")] = 0,
    normalise: Annotated[
        bool | None,
        typer.Option(
            "--normalise/--as-given",
            help="Scale vectors to length 1, or not; by default not if columns have different units.",
        ),
    ] = None,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    skip_unreadable: SkipUnreadableOption = False,
    skip_bad: SkipBadOption = None,
    json: JsonOption = False,
) -> None:
    """Create a project from your items and their embeddings."""
    from tellmore.data.ingest import EmbeddingSource, Ingest
    from tellmore.data.items import Columns
    from tellmore.data.reading import Reading
    from tellmore.data.settings import parse_settings, words_for
    from tellmore.store.warm import WarmStart

    settings = parse_settings(
        {
            "project": {
                "name": name or folder.absolute().name,
                **words_for(attribute),
                "instruction": _instruction(attribute) if instruction is None else instruction,
            },
            "learning": {"seed": seed},
        },
        source="tellmore init",
    )
    start = {
        "like": like or [],
        "unlike": unlike or [],
        "scores_column": scores_column or "",
        "positive_value": positive_value or "" if scores_column else "",
    }
    kept = tuple(dict.fromkeys([*(keep_column or ()), *([scores_column] if scores_column else ())]))
    project, findings = Ingest(
        folder,
        items,
        EmbeddingSource(embeddings, embedding_ids, id_column, by_row, embed, tuple(vector_columns or ())),
        settings,
        Columns(id_column, text_column, image_column, label_column, positive_value, kept, negative_value),
        normalise,
        skip_unreadable,
        progress,
        Reading(delimiter, encoding, skip_bad),
    ).run(WarmStart(prior_from, start, embed))
    if json:
        print_json({"folder": str(project.folder), **vars(findings)})
        return
    for line in findings.lines():
        typer.echo(line)
    typer.echo(f"Created {folder}. Next: tellmore serve {quote(str(folder))}")


def _instruction(attribute: str) -> str:
    """What people read above every question: asked for at a terminal, else a standard sentence."""
    from tellmore.data.settings import words_for

    plain = words_for(attribute)["instruction"]
    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        return plain
    return str(typer.prompt("What should people read above every question?", default=plain))


def _learnt_state(project: Project) -> State:
    """The project after all its answers; a long log takes a while to learn from."""
    from tellmore.store.state import load_state

    with progress("learning from the log"):
        return load_state(project)


def status(folder: ProjectArgument, json: JsonOption = False, dask: DaskOption = None) -> None:
    """Show answers, minutes, accuracy and the time to the target."""
    from tellmore.data.project import open_project
    from tellmore.store.status import status_of, words_of

    project = open_project(folder, dask)
    print_changes(project)
    state = _learnt_state(project)
    found = status_of(state)
    if json:
        print_json(asdict(found))
    else:
        print_table(("", folder.name), found.lines(words_of(state), state.ledger.settings.project.positive))


def import_answers(
    folder: ProjectArgument,
    file: Annotated[
        Path,
        typer.Argument(
            readable=False, help="A file of answers: id and label, pairs, rankings, or another tool's file."
        ),
    ],
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="tellmore, label-studio, argilla, prodigy, doccano, pairwise, labels or ranking. [default: detected]",
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option("--id-column", help="Column or key with the items' ids. [default: depends on the format]"),
    ] = None,
    label_column: LabelColumnOption = None,
    positive_value: PositiveValueOption = None,
    negative_value: NegativeValueOption = None,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    skip_bad: SkipBadOption = None,
    random: Annotated[
        bool,
        typer.Option(
            "--random", help="The items were drawn at random from the project, so the answers measure accuracy."
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Add answers from another tool or project."""
    from tellmore.data.labels import LabelWords, own_words
    from tellmore.data.project import open_project
    from tellmore.data.reading import Reading
    from tellmore.store.formats import FORMATS
    from tellmore.store.importing import AnswerColumns, append_answers, read_answers

    if format is not None and format not in FORMATS:
        raise typer.BadParameter(f"--format is one of {', '.join(FORMATS)}, not {format!r}")
    project, reading = open_project(folder), Reading(delimiter, encoding, skip_bad)
    columns = AnswerColumns(
        id_column, label_column, LabelWords(positive_value, negative_value, own_words(project.settings))
    )
    found = read_answers(file, project.pool, format=format, columns=columns, reading=reading)
    added = append_answers(project, found, random=random)
    reading.finish()
    if json:
        print_json({"found": len(found), "added": added, "notes": reading.notes})
        return
    again = f", {len(found) - added} were already there" if added < len(found) else ""
    for line in (*reading.notes, f"{added} answers added{again}"):
        typer.echo(line)


def export(
    folder: ProjectArgument,
    out: Annotated[Path, typer.Option("--out", readable=False, help="File to write, or folder to make.")],
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="onnx, sklearn, npz, json, sql, csv, parquet, jsonl (the log), report, label-studio, argilla, or a folder: "
            "hub, mlflow. [default: by the file's name]",
        ),
    ] = None,
    table: Annotated[str, typer.Option("--table", help="For csv and parquet: scores or answers.")] = "scores",
    dask: DaskOption = None,
    person: Annotated[
        str | None, typer.Option("--person", help="Export this person's own classifier. [default: the shared one]")
    ] = None,
) -> None:
    """Write the classifier, its scores, log or report to a file.

    With --dask, the workers write the scores as a folder of Parquet files.
    """
    from tellmore.data.project import open_project
    from tellmore.export import FORMATS, TABLES, write_export

    chosen = format or next(
        (name for name, (suffix, _) in FORMATS.items() if suffix and suffix == out.suffix.lower()), None
    )
    if chosen not in FORMATS:
        wrong = f"the name {out.name!r} tells no format" if format is None else f"there is no format {format!r}"
        raise typer.BadParameter(f"{wrong}; --format is one of {', '.join(FORMATS)}")
    if table not in TABLES:
        raise typer.BadParameter(f"--table is one of {', '.join(TABLES)}, not {table!r}")
    state = _learnt_state(open_project(folder, dask))
    for written in write_export(state if person is None else state.of_person(person), chosen, out, table=table):
        typer.echo(f"wrote {written}")


def score(
    folder: ProjectArgument,
    items: Annotated[
        Path,
        typer.Argument(readable=False, help="New items (CSV, JSONL, Parquet, folder of pictures) or .npz vectors."),
    ],
    out: Annotated[Path, typer.Option("--out", readable=False, help="File to write: .csv, .jsonl or .parquet.")],
    embeddings: EmbeddingsOption = None,
    embed: EmbedOption = None,
    embedding_ids: EmbeddingIdsOption = None,
    by_row: ByRowOption = False,
    vector_columns: VectorColumnsOption = None,
    id_column: IdColumnOption = "id",
    text_column: TextColumnOption = None,
    image_column: ImageColumnOption = None,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    skip_unreadable: SkipUnreadableOption = False,
    skip_bad: SkipBadOption = None,
    dask: DaskOption = None,
) -> None:
    """Apply the classifier to new items.

    With --dask, the items are a Parquet file, or a folder of such files, with ids and vectors; the scores are such a
    folder.
    """
    from tellmore.data.items import Columns
    from tellmore.data.project import open_project
    from tellmore.data.reading import Reading
    from tellmore.export.scoring import score_file, score_source

    project = open_project(folder, dask)
    if project.on_dask:
        _score_on_dask(project, items, out, id_column, tuple(vector_columns or ()))
        return
    named = embeddings, embedding_ids, id_column, by_row, embed, tuple(vector_columns or ())
    source = score_source(project.settings, items, *named, tfidf=project.tfidf_path)
    reading = Reading(delimiter, encoding, skip_bad)
    state = _learnt_state(project)
    count = score_file(
        state.classifier,
        items,
        out,
        source,
        Columns(id_column, text_column, image_column, labelled=False),
        progress,
        provenance=state.provenance,
        skip_unreadable=skip_unreadable,
        reading=reading,
    )
    for line in (*reading.notes, f"wrote {out}: {count} item{'' if count == 1 else 's'} scored"):
        typer.echo(line)


def _score_on_dask(project: Project, items: Path, out: Path, id_column: str, columns: tuple[str, ...]) -> None:
    from tellmore.export.parts import score_parts

    state = _learnt_state(project)
    files, count = score_parts(state, items, out, id_column=id_column, columns=columns)
    typer.echo(f"wrote {out}: {count} items scored, {len(files)} files")


def replay(
    folder: ProjectArgument,
    tolerance: Annotated[float, typer.Option("--tolerance", help="Largest difference that counts as equal.")] = 1e-8,
    json: JsonOption = False,
) -> None:
    """Rebuild the classifier from the log and compare it."""
    from tellmore.data.project import open_project
    from tellmore.export.replay import replay_project

    with progress("learning from the log"):
        found = replay_project(open_project(folder), tolerance)
    if json:
        print_json([vars(check) for check in found])
    else:
        rows = [(check.what, check.answers, check.difference, "same" if check.same else "DIFFERENT") for check in found]
        print_table(("rebuilt from", "answers", "largest difference", f"tolerance {tolerance:g}"), rows)
    if not all(check.same for check in found):
        raise typer.Exit(1)
