"""Items from a Hugging Face dataset: a folder saved by its library, or a public name, ``hf:OWNER/NAME@CONFIG:SPLIT``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tellmore.data.hub import hub_answers, offline
from tellmore.data.reading import Reading
from tellmore.errors import DataFileError, needs

PREFIX = "hf:"
_SAVED = ("dataset_info.json", "dataset_dict.json")


def is_dataset(path: Path) -> bool:
    """Whether ``path`` is a folder saved by the library, or names a dataset after ``hf:``."""
    return str(path).startswith(PREFIX) or any(os.path.isfile(path / name) for name in _SAVED)  # noqa: PTH113 - no error


def dataset_records(path: Path, reading: Reading | None) -> tuple[list[str], Iterator[tuple[int, dict[str, Any]]]]:
    """Column names and rows. Classes are given by name. Without a column ``id``, ids are row numbers from 0, as on the hub.

    Pictures inside the dataset are unpacked into a folder of ``reading``.
    """
    reading = reading or Reading()
    with needs("datasets", "datasets"):
        import datasets
    rest, _, split = str(path).removeprefix(PREFIX).partition(":")
    try:
        data = _load(datasets, rest, split)
    except DataFileError:
        raise
    except Exception as error:  # the library raises many kinds of errors, its own and the network's
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise DataFileError(f"{path}: the dataset could not be loaded: {first}") from None
    pictured = [name for name, feature in data.features.items() if isinstance(feature, datasets.Image)]
    for name in pictured:
        data = data.cast_column(name, datasets.Image(decode=False))
    if "id" not in data.column_names:
        reading.notes.append(f"{path}: no column 'id'; ids are the numbers of the rows, from 0")
    classes = {name: each for name, each in data.features.items() if isinstance(each, datasets.ClassLabel)}
    return list(dict.fromkeys(["id", *data.column_names])), _rows(data, classes, pictured, reading)


def _load(datasets: Any, name: str, split: str) -> Any:
    if any((Path(name) / saved).is_file() for saved in _SAVED):
        found = datasets.load_from_disk(name)
    else:
        found = _fetched(datasets, *name.partition("@")[::2])
    if not isinstance(found, dict):
        return found
    if not split and len(found) == 1:
        return next(iter(found.values()))
    if split not in found:
        raise DataFileError(f"{name}: say which part with {PREFIX}{name}:PART; the parts are {', '.join(found)}")
    return found[split]


def _fetched(datasets: Any, name: str, config: str) -> Any:
    """A dataset by public name, or a folder of plain files; if the hub does not respond, an earlier download is used."""
    reachable = Path(name).exists() or hub_answers()
    try:
        with nullcontext() if reachable else offline(datasets.config):
            return datasets.load_dataset(name, config or None)
    except Exception:
        if reachable:
            raise
        raise DataFileError(
            f"{PREFIX}{name}: the hub does not respond, and no earlier download is on this machine; copy the dataset here "
            f"(save_to_disk) and give its folder"
        ) from None


def _rows(
    data: Any, classes: dict[str, Any], pictured: list[str], reading: Reading
) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, record in enumerate(data):
        named = {name: _class_name(each, record[name]) for name, each in classes.items()}
        pictures = {name: _picture(record[name], f"{number}-{name}", reading) for name in pictured}
        yield number + 1, {"id": number, **record, **named, **pictures}


def _picture(value: dict[str, Any] | None, name: str, reading: Reading) -> str | None:
    """The path of a picture; if it is inside the dataset, it is written to a file called ``name``."""
    if value is None or value.get("bytes") is None:
        return None if value is None else value.get("path")
    unpacked = reading.unpacked / f"{quote(name, safe='')}{Path(value.get('path') or '').suffix}"
    unpacked.write_bytes(value["bytes"])
    return str(unpacked)


def _class_name(feature: Any, value: int | None) -> str | None:
    """The name of a class; None for -1, which means no class."""
    return None if value is None or value < 0 else str(feature.int2str(value))
