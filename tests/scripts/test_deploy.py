"""The files for containers and services, read as their programs read them."""

from __future__ import annotations

import configparser
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from tellmore import cli

BIN = Path(sys.executable).parent


def known_options(command: str, options: list[str]) -> bool:
    told = CliRunner().invoke(cli.app, [command, "--help"], env={"COLUMNS": "200"}).output
    return all(option in told for option in options if option.startswith("--"))


def instructions(path: Path) -> list[tuple[str, str]]:
    text = re.sub(r"\\\n\s*", "", path.read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines]


def test_the_dockerfile_is_sound(repository: Path):
    found = instructions(repository / "deploy" / "Dockerfile")
    stages = [rest.split(" AS ")[-1] for name, rest in found if name == "FROM"]
    for name, rest in found:
        if name == "FROM":
            assert re.fullmatch(r"[a-z]+:[0-9][\w.-]+( AS \w+)?", rest), f"{rest}: name a version"
        if name == "COPY":
            stage = re.match(r"--from=(\w+) ", rest)
            assert stage[1] in stages if stage else all((repository / path).exists() for path in rest.split()[:-1])
        if name in ("ENTRYPOINT", "CMD"):
            assert all(isinstance(word, str) for word in json.loads(rest))
    last = [name for name, _ in found][::-1]
    assert last.index("USER") < last.index("RUN"), "what runs does so as a plain user"


def test_the_linter_of_dockerfiles_finds_nothing(repository: Path):
    linter = BIN / "hadolint"
    if not linter.exists():
        pytest.skip("hadolint has no package for this machine; the file was read by the other tests")
    subprocess.run([linter, "--failure-threshold", "style", repository / "deploy" / "Dockerfile"], check=True)


def test_the_image_installs_extras_that_exist(repository: Path):
    text = (repository / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    named = re.search(r"\[([a-z,]+)\]\"", text)[1].split(",")  # type: ignore[index]
    project = (repository / "pyproject.toml").read_text(encoding="utf-8")
    assert all(re.search(rf"^{extra} = \[", project, re.MULTILINE) for extra in named)


def test_the_compose_file_keeps_to_its_specification(repository: Path):
    schema = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    subprocess.run([*schema, repository / "deploy" / "compose.yaml"], check=True)


def test_compose_serves_a_project_on_postgres(repository: Path):
    whole = yaml.safe_load((repository / "deploy" / "compose.yaml").read_text(encoding="utf-8"))
    server, database = whole["services"]["tellmore"], whole["services"]["database"]
    assert known_options(server["command"][0], server["command"][1:])
    assert (repository / "deploy" / server["build"]["context"] / server["build"]["dockerfile"]).is_file()
    assert server["ports"][0].startswith("127.0.0.1:")
    assert set(server["depends_on"]) == {"database"}
    assert set(server["secrets"]) | set(database["secrets"]) == set(whole["secrets"])
    assert database["volumes"][0].split(":")[0] in whole["volumes"]


def test_the_unit_starts_a_command_that_exists(repository: Path, tmp_path: Path):
    path = repository / "deploy" / "tellmore@.service"
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(path, encoding="utf-8")
    assert unit.sections() == ["Unit", "Service", "Install"]
    _, command, *options = unit["Service"]["ExecStart"].split()
    assert known_options(command, options)
    verify = shutil.which("systemd-analyze")
    if verify is None:
        pytest.skip("systemd-analyze is not here; the unit was read as a file")
    local = tmp_path / "tellmore@.service"
    local.write_text(path.read_text(encoding="utf-8").replace("/opt/tellmore/bin/tellmore", "/bin/true"))
    subprocess.run([verify, "verify", local], check=True)
