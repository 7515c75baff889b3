"""Encodings guessed from small files as people have them, in many languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tellmore.data.guessing import Encoding, encoding_of
from tellmore.errors import DataFileError, MissingExtraError

SENTENCES = {
    "German": "Die Straße nach Süden führt über schöne Höhen und grüne Täler.",
    "French": "Le garçon a été très étonné où qu'il fût, même à Noël.",
    "Polish": "Zażółć gęślą jaźń, a potem wróć do domu przez łąkę.",
    "Czech": "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "Russian": "Широкая электрификация южных губерний даст мощный толчок подъёму сельского хозяйства.",
    "Ukrainian": "Жебракують філософи при ґанку церкви в Гадячі, ще й шатро їхнє п'яне знаємо.",
    "Greek": "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία όλων των ανθρώπων.",
    "Turkish": "Pijamalı hasta yağız şoföre çabucak güvendi, sonra da teşekkür etti.",
    "Hebrew": "עטלף אבק נס דרך מזגן שהתפוצץ כי חם",
    "Arabic": "نص حكيم له سر قاطع وذو شأن عظيم مكتوب على ثوب أخضر",
    "Thai": "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า กว่าบรรดาฝูงสัตว์เดรัจฉาน",
    "Japanese": "いろはにほへと ちりぬるを 東京は今日も雨でした",
    "Chinese": "我能吞下玻璃而不伤身体，今天天气很好，我们去公园散步吧",
    "traditional Chinese": "我能吞下玻璃而不傷身體，今天天氣很好，我們去公園散步吧",
    "Korean": "키스의 고유조건은 입술끼리 만나야 하고 특별한 기술은 필요치 않다",
}
ENCODED = [
    *(("German", name) for name in ("cp1252", "mac_roman", "cp850")),
    *(("French", name) for name in ("cp1252", "mac_roman", "cp850")),
    *(("Polish", name) for name in ("cp1250", "iso8859-2", "cp852")),
    *(("Czech", name) for name in ("cp1250", "iso8859-2")),
    *(("Russian", name) for name in ("cp1251", "koi8-r", "cp866", "iso8859-5", "mac_cyrillic")),
    *(("Ukrainian", name) for name in ("cp1251", "koi8-u")),
    *(("Greek", name) for name in ("cp1253", "iso8859-7")),
    *(("Turkish", "cp1254"), ("Hebrew", "cp1255"), ("Arabic", "cp1256"), ("Thai", "cp874")),
    *(("Japanese", name) for name in ("cp932", "euc_jp", "iso2022_jp", "utf-16", "utf-16-le", "utf-16-be", "utf-8")),
    *(("Chinese", "gb18030"), ("traditional Chinese", "big5"), ("Korean", "cp949")),
]


def encoding(path: Path, content: bytes) -> Encoding:
    path.write_bytes(content)
    return encoding_of(path)


@pytest.mark.parametrize(("language", "name"), ENCODED)
def test_one_sentence_is_enough(tmp_path: Path, language: str, name: str):
    text = f'id,text\r\n1,"{SENTENCES[language]}"\r\n'
    found = encoding(tmp_path / "a.csv", text.encode(name))
    assert text.encode(name).decode(found.name) == text
    assert found.guessed == (name not in ("utf-8", "utf-16"))


@pytest.mark.parametrize("sign", ["it’s", "“quoted”", "café", "£5", "5 €", "a – b", "José", "naïve"])
def test_english_with_a_sign_of_windows_is_cp1252(tmp_path: Path, sign: str):
    rows = [f"r{n},The staff were kind and patient with every question." for n in range(40)]
    rows[30] = f"r30,And then they said {sign} to all of us."
    found = encoding(tmp_path / "a.csv", "\n".join(["id,text", *rows]).encode("cp1252"))
    assert (found.name, found.line) == ("cp1252", 32)
    assert sign in found.shown


def test_a_single_letter_is_rather_of_windows_than_of_another_alphabet(tmp_path: Path):
    content = "\n".join(["id,label", *(f"é{row},{'gut' if row % 2 else 'schlecht'}" for row in range(18))])
    assert encoding(tmp_path / "a.csv", content.encode("cp1252")).name == "cp1252"


def test_a_doubtful_guess_names_the_others_and_what_they_read(tmp_path: Path):
    found = encoding(tmp_path / "a.csv", "id,text\n1,Straße\n".encode("mac_roman"))
    assert found.doubtful
    readings = dict([(found.name, found.shown), *found.others])
    assert "Straße" in readings.values()
    assert len(set(readings.values())) == len(readings) == 4
    assert all(f"{name} ({reading!r})" in found.advice for name, reading in found.others)
    assert str(found) == f"{found.name}, a doubtful guess"


def test_a_file_that_is_mostly_utf8_is_not_taken_for_another(tmp_path: Path):
    rows = ["id,text", *(f"{n},schöne Höhe" for n in range(9))]
    content = "\n".join(rows).encode() + "\n9,schöne Höhe".encode("cp1252")
    assert encoding(tmp_path / "a.csv", content) == Encoding("utf-8")


def test_letters_far_behind_the_start_of_a_file_count(tmp_path: Path):
    rows = ["id,text", *(f"{n},{'plain words ' * 20}" for n in range(1000)), f"1000,{SENTENCES['Russian']}"]
    found = encoding(tmp_path / "a.csv", "\n".join(rows).encode("cp1251"))
    assert (found.name, found.line) == ("cp1251", 1002)


def test_a_zero_byte_in_a_line_does_not_make_two_bytes_of_each_letter(tmp_path: Path):
    assert encoding(tmp_path / "a.csv", b"id,text\n1,a\0b\n") == Encoding("utf-8")


def test_what_is_no_text_is_refused(tmp_path: Path):
    with pytest.raises(DataFileError, match="this is not text; save the table as CSV"):
        encoding(tmp_path / "a.csv", bytes(range(256)) * 4)


def test_without_chardet_one_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "chardet", None)
    assert encoding(tmp_path / "a.csv", "id,text\n1,é\n".encode()) == Encoding("utf-8")
    with pytest.raises(MissingExtraError, match=r"chardet is not installed; .*'tellmore\[app\]'"):
        encoding(tmp_path / "a.csv", "id,text\n1,é\n".encode("cp1252"))
