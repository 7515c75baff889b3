from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tellmore.data.checked import toml_text
from tellmore.data.settings import Settings, parse_settings, read_settings, redacted_database
from tellmore.errors import SettingError

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=50)


@example("a", "first\r\nsecond\n", 0, None, ["x\r\n"])
@given(words, words, st.integers(0, 10**6), st.none() | st.floats(0.001, 1e6), st.lists(words, max_size=3))
def test_any_settings_survive_being_written_and_read(name, instruction, seed, w, seeds):
    settings = Settings().changed(
        project={"name": name, "instruction": instruction}, learning={"seed": seed, "w": w, "seeds_positive": seeds}
    )
    import tomllib

    assert parse_settings(tomllib.loads(toml_text(settings)), source="x") == settings


def test_defaults():
    learning = Settings().learning
    assert learning.question == "auto"
    assert learning.kinds == ("label", "select_high", "select_low", "rank", "tick")
    assert learning.sizes == (2, 3, 4, 5, 6, 12)
    assert learning.set_size is None
    assert (learning.target_accuracy, learning.check_share, learning.seed) == (0.9, 0.1, 0)
    assert Settings().server.lease_s == 120


@pytest.mark.parametrize(
    ("toml", "line", "said"),
    [
        ("[learning]\n\nseed = -1\n", 3, "learning.seed"),
        ("[project]\nname = 'a'\n[learning]\nquestion = 'guess'\n", 4, "'guess'; the kinds are label"),
        ("learning.seed = -1\n", 1, "learning.seed"),
        ("[learning]\nsizes = [2, 1]\n", 2, "learning.sizes.1"),
        ("[learning]\n# speed = 1\nspeed = 1\n", 3, "unknown key learning.speed; allowed are question"),
        ("\n[lerning]\nseed = 1\n", 2, "unknown key lerning; allowed are project, learning, start, team, server, data"),
        ("[learning]\nw = nan\n", 2, "learning.w"),
        ("[learning]\nkinds = ['tick', 'guess']\n", 2, "unknown question kind 'guess'"),
        ("[learning]\nset_size = 25\n", 2, "no kind of question shows more than 24 items"),
    ],
)
def test_an_error_names_key_and_line(tmp_path: Path, toml, line, said, one_line):
    path = tmp_path / "tellmore.toml"
    path.write_text(toml)
    with pytest.raises(SettingError) as raised:
        read_settings(path)
    assert f"{path}, line {line}: " in one_line(raised.value)
    assert said in str(raised.value)


def test_text_that_is_not_toml_names_the_line(tmp_path: Path, one_line):
    path = tmp_path / "tellmore.toml"
    path.write_text("[project]\nname =\n")
    with pytest.raises(SettingError, match="line 2"):
        read_settings(path)


def test_settings_that_are_not_utf8(tmp_path: Path):
    path = tmp_path / "tellmore.toml"
    path.write_bytes(b"[project]\nname = '\xff'\n")
    with pytest.raises(SettingError, match="UTF-8"):
        read_settings(path)


def test_a_wrong_database_is_not_echoed(tmp_path: Path):
    path = tmp_path / "tellmore.toml"
    path.write_text("[server]\ndatabase = ['postgresql://me:hidden@db/x']\n")
    with pytest.raises(SettingError) as raised:
        read_settings(path)
    assert "hidden" not in str(raised.value)


@given(st.text(string.printable, max_size=20), st.text(string.ascii_letters + string.digits + ":@/?#%", min_size=8))
def test_no_password_survives_redaction(user, password):
    shown = redacted_database(
        f"postgresql://{user.replace('/', '')}:{password.replace('/', '').replace('?', '')}X9@host/db"
    )
    assert "X9@" not in shown
    assert shown.endswith("host/db") or "?" in user


def test_redacted_settings_keep_everything_else():
    settings = Settings().changed(server={"database": "postgresql://me:pw@db/x"})
    assert settings.redacted()["server"] == {
        "database": "postgresql://***@db/x",
        "lease_s": 120.0,
        "process_from": 2,
    }
    assert settings.redacted()["learning"]["sizes"] == [2, 3, 4, 5, 6, 12]


def test_settings_cannot_be_changed_in_place():
    with pytest.raises(ValueError, match="frozen"):
        Settings().learning.seed = 3  # type: ignore[misc]
