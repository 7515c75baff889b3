"""The shell around every command: exit codes, one-line errors, quick start."""

from __future__ import annotations

import errno
import subprocess
import sys
import time

import pytest

import tellmore
from tellmore import cli
from tellmore.errors import PoolError


def run(arguments: list[str]) -> int:
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    return int(stopped.value.code or 0)


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch):
    """Make every command fail with the given exception."""

    def set_problem(problem: BaseException) -> None:
        def broken(arguments: list[str]) -> None:
            raise problem

        monkeypatch.setattr(cli, "app", broken)

    return set_problem


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"tellmore {tellmore.__version__}\n"


@pytest.mark.parametrize("wrong", [["--bogus"], ["no-such-command"]])
def test_wrong_usage_exits_with_2(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(wrong) == 2
    assert wrong[0] in capsys.readouterr().err


def test_every_command_states_its_purpose_in_one_line_of_a_narrow_terminal() -> None:
    from typer.main import get_command

    commands = get_command(cli.app).commands
    assert commands
    purposes = {name: command.get_short_help_str(limit=63) for name, command in commands.items()}
    assert {name: purpose for name, purpose in purposes.items() if not purpose or purpose.endswith("...")} == {}


def test_our_errors_are_one_line(failing, capsys: pytest.CaptureFixture[str]) -> None:
    failing(PoolError("a pool needs\n  two items"))
    assert run(["status"]) == 1
    assert capsys.readouterr().err == "error: a pool needs two items\n"


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "/data/x"), "No space left on device: /data/x"),
        (PermissionError(errno.EACCES, "Permission denied", "out"), "Permission denied: out"),
        (OSError("odd"), "odd"),
        (MemoryError(), "not enough memory"),
        (KeyError("lost"), "unexpected KeyError: 'lost'; this is a bug in tellmore: run again with --debug"),
        (ZeroDivisionError(), "unexpected ZeroDivisionError: ZeroDivisionError"),
    ],
)
def test_other_failures_are_one_line_too(failing, problem: Exception, message: str, capsys) -> None:
    failing(problem)
    assert run([]) == 1
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_debug_shows_the_traceback_wherever_it_stands(failing, capsys: pytest.CaptureFixture[str]) -> None:
    failing(PoolError("broken"))
    assert run(["status", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_help_is_quick_and_imports_nothing_heavy() -> None:
    code = (
        "import sys, tellmore.cli\n"
        "heavy = {'scipy', 'fastapi', 'sqlalchemy', 'matplotlib', 'pandas', 'pydantic', 'dask', 'sklearn'} & set(sys.modules)\n"
        "sys.exit(f'imported at start: {sorted(heavy)}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "tellmore", "--help"], check=True, capture_output=True)
    assert time.perf_counter() - start < 2.0


def test_a_closed_pipe_is_no_traceback() -> None:
    command = f"{sys.executable} -m tellmore --help | true"
    done = subprocess.run(["bash", "-c", command], text=True, capture_output=True)
    assert "Traceback" not in done.stderr
