"""The test runner: one table, and the right exit code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest


@pytest.fixture
def runner(repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.syspath_prepend(str(repository / "scripts"))
    import run_tests

    monkeypatch.setattr(run_tests, "REPORTS", tmp_path / "reports")
    return run_tests


def cannot(_stack: object) -> dict[str, str]:
    import run_tests

    raise run_tests.CannotRunError("no chromium")


def outcome(runner, monkeypatch: pytest.MonkeyPatch, ci: str, *suites) -> int:
    monkeypatch.setattr(runner, "suites", lambda: suites)
    monkeypatch.setattr(sys, "argv", ["run_tests.py"])
    monkeypatch.setenv("CI", ci)
    with pytest.raises(SystemExit) as stopped:
        runner.main()
    return int(stopped.value.code)


def test_all_passed(runner, monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    assert outcome(runner, monkeypatch, "true", runner.Suite("good", ((sys.executable, "-c", ""),))) == 0
    assert "good      passed" in capfd.readouterr().out


def test_a_failure_fails_the_whole_and_later_suites_still_run(runner, monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    bad = runner.Suite("bad", ((sys.executable, "-c", "raise SystemExit(3)"),))
    assert outcome(runner, monkeypatch, "", bad, runner.Suite("good", ((sys.executable, "-c", ""),))) == 1
    out = capfd.readouterr().out
    assert "bad       failed" in out
    assert "good      passed" in out


@pytest.mark.parametrize(("ci", "code"), [("", 0), ("false", 0), ("true", 1)])
def test_what_could_not_run_fails_only_in_ci(
    runner, monkeypatch: pytest.MonkeyPatch, capfd, ci: str, code: int
) -> None:
    missing = runner.Suite("browser", ((sys.executable, "-c", "raise SystemExit(3)"),), cannot)
    assert outcome(runner, monkeypatch, ci, missing) == code
    assert "browser   could not run" in capfd.readouterr().out


def test_tests_and_skips_are_counted_and_missing_pools_named(
    runner, monkeypatch: pytest.MonkeyPatch, capfd, tmp_path: Path
) -> None:
    monkeypatch.delenv("TELLMORE_DATA", raising=False)
    module = tmp_path / "test_three.py"
    module.write_text(
        "import pytest\ndef test_a(): pass\ndef test_b(): pass\ndef test_c(): pytest.skip('no lamp')\n",
        encoding="utf-8",
    )
    suite = runner.pytest_suite("three", str(module), "-p", "no:cacheprovider")
    assert outcome(runner, monkeypatch, "", suite) == 0
    out = capfd.readouterr().out
    assert "2 (1 skipped)" in out
    assert "skipped: no lamp" in out
    assert "TELLMORE_DATA is not set" in out
