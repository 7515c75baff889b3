"""How often the encoding of a CSV file is guessed correctly, on files made from the translations of installed programs.

    python benchmarks/text_encodings.py [--catalogues FOLDER] [--sentences FOLDER] [--part reported] [--repeats 1] [--seed 1]

Each file has 300, 30, 5 or 1 rows, in a language and an encoding used for it: messages of programs, names of countries, languages
and currencies, sentences (FOLDER/LANGUAGE.txt, one per line), and English with a few typographic characters. A guess is right if
the whole file is read as it was written. The rules were chosen on the part "chosen-on", which has other programs.
charset-normalizer is also measured if it is installed.
"""

from __future__ import annotations

import argparse
import csv
import gettext
import io
import random
import re
import sys
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import chardet

from tellmore.data.guessing import Encoding, encoding_of

LATIN = ("cp1252", "iso8859-15", "mac_roman", "cp850")
CENTRAL = ("cp1250", "iso8859-2", "cp852", "mac_latin2")
ENCODINGS = {
    **dict.fromkeys(
        ["de", "fr", "es", "it", "pt", "pt_BR", "nl", "sv", "da", "nb", "fi", "ca", "gl", "eu", "is", "af"], LATIN
    ),
    **dict.fromkeys(["pl", "cs", "sk", "hu", "hr", "sl", "sq", "bs"], CENTRAL),
    **dict.fromkeys(["bg", "sr", "mk", "be"], ("cp1251", "iso8859-5")),
    **dict.fromkeys(["lt", "lv", "et"], ("cp1257", "iso8859-13")),
    "ro": ("cp1250", "iso8859-2", "iso8859-16"),
    "ru": ("cp1251", "koi8-r", "cp866", "iso8859-5", "mac_cyrillic"),
    "uk": ("cp1251", "koi8-u", "mac_cyrillic"),
    "el": ("cp1253", "iso8859-7"),
    "tr": ("cp1254", "iso8859-9"),
    "he": ("cp1255", "iso8859-8"),
    "ar": ("cp1256", "iso8859-6"),
    "fa": ("cp1256",),
    "vi": ("cp1258",),
    "th": ("cp874",),
    "ja": ("cp932", "euc_jp", "iso2022_jp"),
    "zh_CN": ("gb18030",),
    "zh_TW": ("big5", "cp950"),
    "ko": ("cp949", "euc_kr"),
}
ENGLISH = ("cp1252", "mac_roman")
USUAL = {"cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp874"} | {
    *("cp932", "gb18030", "big5", "cp949")
}
NAMES = {"chosen-on": {"iso_3166-1"}, "reported": {"iso_639-3", "iso_4217"}}
ROWS = {"300 rows": 300, "30 rows": 30, "5 rows": 5, "1 row": 1}
TYPOGRAPHY = ("{}…", "“{}”", "{} – café", "{} (£5)", "{} (5 €)", "naïve {}", "{} (José)", "{} (20 °C)", "they’re {}")


@dataclass(frozen=True)
class Made:
    """A file, and how it was made."""

    text: str
    encoding: str
    rows: str
    kind: str

    @property
    def raw(self) -> bytes:
        return self.text.encode(self.encoding)


def messages(folder: Path, language: str, part: str, *, names: bool) -> list[tuple[str, str]]:
    """(English, translation) of the programs that belong to ``part``, or of the lists of names."""
    found = []
    for path in sorted((folder / language / "LC_MESSAGES").glob("*.mo")):
        mine = "chosen-on" if zlib.crc32(path.stem.encode()) % 2 == 0 else "reported"
        if path.stem in NAMES[part] if names else not path.stem.startswith("iso_") and mine == part:
            try:
                with path.open("rb") as file:
                    catalogue = vars(gettext.GNUTranslations(file))["_catalog"]
            except UnicodeDecodeError:  # a catalogue in an old encoding
                continue
            found += [
                (one_line(key[0] if isinstance(key, tuple) else key), one_line(told)) for key, told in catalogue.items()
            ]
    return [(key, told) for key, told in found if key and told and key != told and len(told) < 2000]


def one_line(text: str) -> str:
    return " ".join(re.sub(r"[_\x00-\x1f]", " ", text).split())


def made(texts: list[str], encoding: str, rows: str, kind: str, rng: random.Random) -> Made | None:
    """A file of some texts that the encoding can represent; None if all of it is ASCII."""
    fitting = [text for text in texts if text == text.encode(encoding, errors="ignore").decode(encoding)]
    chosen = rng.sample(fitting, min(ROWS[rows], len(fitting)))
    if kind == "English with typography":
        for row in range(max(1, len(chosen) // 30)):
            chosen[row] = rng.choice(TYPOGRAPHY).format(chosen[row])
        rng.shuffle(chosen)
    buffer, labelled, prefix = io.StringIO(newline=""), rng.random() < 0.5, rng.choice(["r", "", "item-"])
    writer = csv.writer(buffer, delimiter=rng.choice(",;"))
    writer.writerow(["id", "text", "label"][: 2 + labelled])
    writer.writerows([f"{prefix}{row}", text, "yes"][: 2 + labelled] for row, text in enumerate(chosen, start=1))
    text = buffer.getvalue()
    return None if text.isascii() else Made(text, encoding, rows, kind)


def files(catalogues: Path, sentences: Path | None, part: str, repeats: int, seed: int) -> Iterator[Made]:
    rng = random.Random(f"{part} {seed}")
    english = [key for key, _ in messages(catalogues, "de", part, names=False) if key.isascii() and len(key) > 20]
    for language, encodings in [("en", ENGLISH), *ENCODINGS.items()]:
        kinds = (
            {"English with typography": english}
            if language == "en"
            else {
                "messages": [told for _, told in messages(catalogues, language, part, names=False)],
                "names": [told for _, told in messages(catalogues, language, part, names=True)],
                "sentences": (sentences / f"{language}.txt").read_text().splitlines()
                if sentences and (sentences / f"{language}.txt").exists()
                else [],
            }
        )
        for encoding in encodings:
            for kind, texts in kinds.items():
                for rows in ROWS:
                    enough = texts and (kind != "sentences" or ROWS[rows] < 10)
                    for _ in range(repeats * (5 if language == "en" else 1) if enough else 0):
                        one = made(texts, encoding, rows, kind, rng)
                        if one is not None:
                            yield one


def guessers() -> dict[str, Callable[[bytes], str | None]]:
    """Other ways to guess."""
    every: dict[str, Callable[[bytes], str | None]] = {"chardet": lambda raw: chardet.detect(raw)["encoding"]}
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        return every
    return every | {"charset-normalizer": lambda raw: getattr(from_bytes(raw).best(), "encoding", None)}


def guess(place: Path, one: Made) -> Encoding:
    place.write_bytes(one.raw)
    return encoding_of(place)


def right(one: Made, name: str | None) -> bool:
    try:
        return name is not None and one.raw.decode(name) == one.text
    except (UnicodeError, LookupError):
        return False


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--catalogues", type=Path, default=Path("/usr/share/locale"))
    options.add_argument("--sentences", type=Path)
    options.add_argument("--part", choices=tuple(NAMES), default="reported")
    options.add_argument("--repeats", type=int, default=1)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    every = list(files(given.catalogues, given.sentences, given.part, given.repeats, given.seed))
    if not every:
        sys.exit(f"no translations in {given.catalogues}; name a folder that has some with --catalogues")
    with tempfile.TemporaryDirectory() as folder:
        own = [guess(Path(folder) / "file.csv", one) for one in every]
    found = {"tellmore": [right(one, told.name) for one, told in zip(every, own, strict=True)]}
    found |= {name: [right(one, other(one.raw)) for one in every] for name, other in guessers().items()}
    doubtful, named = defaultdict(list), []
    for one, told, good in zip(every, own, found["tellmore"], strict=True):
        doubtful[told.doubtful].append(good)
        named += [] if good else [any(right(one, name) for name, _ in told.others)]
    groups: dict[str, list[int]] = defaultdict(list)
    for position, one in enumerate(every):
        family = "usual encodings" if one.encoding in USUAL else "older encodings"
        for group in ("all", family, f"{family}, {one.rows}", one.kind, one.encoding):
            groups[group].append(position)
    print("group", "files", *found, sep="\t")
    for group, members in groups.items():
        print(
            group,
            len(members),
            *(f"{sum(hits[at] for at in members) / len(members):.1%}" for hits in found.values()),
            sep="\t",
        )
    for state, hits in doubtful.items():
        print(f"said to be {'doubtful' if state else 'clear'}", len(hits), f"{sum(hits) / len(hits):.1%}", sep="\t")
    print("wrong, with the right one named", len(named), f"{sum(named) / max(1, len(named)):.1%}", sep="\t")


if __name__ == "__main__":
    main()
