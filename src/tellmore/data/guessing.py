"""Finds the encoding of a text file: by its byte-order mark, else UTF-8 if that fits, else by guessing.

chardet measures how much the letters look like those of an encoding's languages. Encodings of one alphabet differ little in
this, so a second sign is used: in a wrong encoding, words have symbols, capitals or letters of other alphabets inside.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tellmore.errors import DataFileError, needs

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_FOR_FEW_LANGUAGES = ("cp1257", "iso8859-13", "cp1258", "iso8859-16")
_SELDOM = ("cp866", "cp850", "cp852", "mac-roman", "mac-cyrillic", "mac-latin2")  # of DOS and the old Mac OS
CANDIDATES = (
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp874"),
    *("cp932", "gb18030", "big5hkscs", "cp949", "euc_jis_2004", "euc_kr"),
    *("iso8859-1", "iso8859-15", "iso8859-2", "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-9"),
    *("koi8-r", "koi8-u", *_SELDOM, *_FOR_FEW_LANGUAGES),
)
"""Names that chardet and Python use. If several read a file in the same way, the first one is named."""

_READS_ALL = "iso8859-1"
_CONTROLS = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f]")
_MOST_CONTROLS = 0.01
_SAMPLE_BYTES = 20_000
_LIKELIEST = 12  # how many encodings are compared by how odd words look in them
_WEIGHT_OF_ODD = 3.0  # this and the next were chosen on other files than those reported in docs/your-data.md
_AGAINST = dict.fromkeys(_FOR_FEW_LANGUAGES, 0.04) | dict.fromkeys(_SELDOM, 0.03)
_CLEAR = 0.08  # a guess with a smaller lead, or from fewer bytes, is called doubtful
_ENOUGH_BYTES = 5
_OTHERS = 3
_SHOWN = 60


@dataclass(frozen=True)
class Encoding:
    """An encoding, by Python's name. If it was guessed, ``shown`` is how it reads the first line for which it matters, number
    ``line``; ``others`` are the next likely encodings that read it differently, each with its reading."""

    name: str
    line: int = 0
    shown: str = ""
    others: tuple[tuple[str, str], ...] = ()
    doubtful: bool = False

    @property
    def guessed(self) -> bool:
        """Whether it was guessed, because the file itself does not show it."""
        return self.line > 0

    def __str__(self) -> str:
        how = ", a doubtful guess" if self.doubtful else " (guessed)" if self.guessed else ""
        return self.name.removesuffix("-sig") + how

    @property
    def advice(self) -> str:
        """How to see whether the guess is right, and what to do if it is not."""
        others = ", ".join(f"{name} ({reading!r})" for name, reading in self.others)
        return (
            f"Line {self.line} reads {self.shown!r}. If that is wrong, name the encoding with --encoding (Python: encoding=)"
            f"{others and f', perhaps {others}'}"
        )


@dataclass(frozen=True)
class _Sample:
    """The start of a file, the number of its first line with bytes beyond ASCII, and the different cells with such bytes."""

    start: bytes
    line: int
    cells: tuple[bytes, ...]

    def read_as(self, encoding: str) -> list[str]:
        """The cells in this encoding; what cannot be read is replaced by signs."""
        return [cell.decode(encoding, errors="replace") for cell in self.cells]


def encoding_of(path: Path) -> Encoding:
    """The encoding of a file; raises DataFileError if it is not text. If only a few lines are not UTF-8, it is UTF-8, so that
    an error can name those lines."""
    with path.open("rb") as file:
        start = file.read(2**16)
    mark = next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)
    if mark is not None:
        return Encoding(mark)
    unmarked = _by_line_ends(start)
    if unmarked is not None and reads(path, unmarked):
        return Encoding(unmarked, 1, start.decode(unmarked, errors="ignore").strip().splitlines()[0][:_SHOWN])
    sample, utf8, other = _surveyed(path, start)
    return Encoding("utf-8") if not other or utf8 > other else _guess(path, sample)


def reads(path: Path, encoding: str) -> bool:
    """Whether the whole file can be read as ``encoding``."""
    try:
        with path.open(encoding=encoding, newline="") as file:
            while file.read(2**20):
                pass
    except (UnicodeError, LookupError):
        return False
    return True


def _by_line_ends(start: bytes) -> str | None:
    """UTF-16 without a mark, or seven-bit Japanese, which no other text looks like; else None."""
    pairs = {start[at : at + 2] for at in range(0, len(start), 2)}
    signs = {"utf-16-le": b"\n\0" in pairs, "utf-16-be": b"\0\n" in pairs, "iso2022_jp": b"\x1b$" in start}
    return next((name for name, seen in signs.items() if seen), None)


def _surveyed(path: Path, start: bytes) -> tuple[_Sample, int, int]:
    """A sample, and how many lines with bytes beyond ASCII are UTF-8 and how many are not."""
    first, utf8, other, size = 0, 0, 0, 0
    cells: dict[bytes, None] = {}
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.isascii():
                continue
            try:
                line.decode("utf-8")
                utf8 += 1
            except UnicodeDecodeError:
                other += 1
            if size < _SAMPLE_BYTES:
                first = first or number
                # In no encoding is one of these delimiters' bytes the second half of a letter; that of a bar may be.
                found = re.split(rb'[,;\t"\r\n]', line[:_SAMPLE_BYTES])
                cells |= dict.fromkeys(cell.strip() for cell in found if not cell.isascii())
                size += len(line)
    return _Sample(start, first, tuple(cells)), utf8, other


def _guess(path: Path, sample: _Sample) -> Encoding:
    if len(_CONTROLS.findall(sample.start)) > _MOST_CONTROLS * len(sample.start):
        raise DataFileError(
            f"{path}: this is not text; save the table as CSV with encoding UTF-8, or name its --encoding"
        )
    scores = _scores(sample)
    alike: dict[tuple[str, ...], list[str]] = {}
    for name in sorted(scores, key=lambda name: -scores[name]):
        if len(alike) <= _OTHERS and reads(path, name):
            alike.setdefault(tuple(sample.read_as(name)), []).append(name)
    (best, names), *rest = alike.items()
    others = [
        (_usual(named), _shown(next(mine for mine, his in zip(reading, best, strict=True) if mine != his)))
        for reading, named in rest
    ]
    close = bool(rest) and scores[names[0]] - scores[rest[0][1][0]] < _CLEAR
    few = sum(byte > 127 for cell in sample.cells for byte in cell) < _ENOUGH_BYTES
    return Encoding(_usual(names), sample.line, _shown(best[0]), tuple(others), close or few)


def _usual(names: list[str]) -> str:
    return min(names, key=CANDIDATES.index)


def _shown(text: str) -> str:
    """The part of ``text`` around its first letter that is not ASCII."""
    at = next((position for position, letter in enumerate(text) if letter > "\x7f"), 0)
    start = max(0, at - _SHOWN // 2)
    return text[start : start + _SHOWN].strip()


def _scores(sample: _Sample) -> dict[str, float]:
    """How good the likeliest encodings are: chardet's measure, as a share of the highest, minus the share that looks odd."""
    likeness = [_likeness(sample.start), _likeness(b"\n".join(sample.cells))]
    mean = {name: sum(each.get(name, 0.0) for each in likeness) / len(likeness) for name in CANDIDATES}
    likeliest = {*sorted(CANDIDATES, key=lambda name: -mean[name])[:_LIKELIEST], _READS_ALL}
    return {
        name: mean[name] - _WEIGHT_OF_ODD * _oddness("\n".join(sample.read_as(name))) - _AGAINST.get(name, 0.0)
        for name in CANDIDATES
        if name in likeliest
    }


def _likeness(data: bytes) -> dict[str, float]:
    with needs("chardet", "app"):
        import chardet
    found = chardet.detect_all(data, ignore_threshold=True, include_encodings=CANDIDATES, compat_names=False)
    highest = max((float(each["confidence"]) for each in found), default=0.0) or 1.0
    return {str(each["encoding"]): float(each["confidence"]) / highest for each in found}


def _oddness(text: str) -> float:
    """The share of the letters beyond ASCII that do not fit their neighbours."""
    neighbours = zip(f" {text}", text, f"{text} "[1:], strict=False)
    beyond = [_odd(before, letter, after) for before, letter, after in neighbours if letter > "\x7f"]
    return sum(beyond) / len(beyond) if beyond else 0.0


_kind = cache(unicodedata.category)
_ALPHABETS = {"LATIN", "CYRILLIC", "GREEK", "HEBREW", "ARABIC", "THAI"}


@cache
def _alphabet(letter: str) -> str:
    return unicodedata.name(letter, "?").split()[0]


def _odd(before: str, letter: str, after: str) -> float:
    """How odd ``letter`` is between these two, 0 to 2."""
    kind = _kind(letter)
    if (kind[0] == "C" and letter not in "\xad\u200c\u200d\u200e\u200f") or "\u2500" <= letter <= "\u259f":
        return 2.0  # control codes, characters that could not be decoded, and box-drawing lines
    neighbours = [each for each in (before, after) if each.isalpha()]
    if kind[0] in "LM":
        capital_inside = kind == "Lu" and _kind(before) == "Ll"
        if capital_inside or any(_mixed(letter, each) for each in neighbours):
            return 1.0
        alone = not neighbours and _alphabet(letter) in _ALPHABETS
        small_inside = kind == "Ll" and [_kind(each) for each in neighbours] == ["Lu", "Lu"]
        return 0.5 if alone or small_inside else 0.0
    if kind[0] in "SNP" and letter not in "’·" and len(neighbours) == 2:
        return 1.0
    return 0.5 if letter in "¤¦¬¶†‡ƒ∑∏∂◊√∞∫∆≈" else 0.0


def _mixed(letter: str, other: str) -> bool:
    """Whether two letters are from alphabets that are never mixed in one word."""
    alphabets = {_alphabet(letter), _alphabet(other)}
    return len(alphabets) > 1 and bool(alphabets & _ALPHABETS)
