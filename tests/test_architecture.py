"""The structure of the package: what is public, how large modules are, what is needed to import it."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import grimp
import pytest

import tellmore

PUBLIC = {
    "Answer",
    "Classifier",
    "CostModel",
    "Evidence",
    "Item",
    "Project",
    "Settled",
    "TimeModel",
    "embedder",
    "register_kind",
    "AnswerBudget",
    "DeterminantRule",
    "Stability",
    "Start",
    "Stop",
    "TimeBudget",
    "AnswerError",
    "DataFileError",
    "InputError",
    "LabelAnswer",
    "Kind",
    "Learner",
    "TickAnswer",
    "check_question_kind",
    "MissingExtraError",
    "NumericalError",
    "Pool",
    "PoolError",
    "Posterior",
    "Question",
    "QuestionError",
    "RankAnswer",
    "Scores",
    "SelectAnswer",
    "SettingError",
    "Skip",
    "StateError",
    "StoreError",
    "TellmoreError",
    "load_pool",
}
MAX_LINES = 400
BASE_ONLY = """
import sys
allowed = {"numpy", "scipy", "typer", "rich", "tellmore"}
class Guard:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in OPTIONAL:
            raise ModuleNotFoundError(f"{name} is optional and must not be needed here", name=name)
sys.meta_path.insert(0, Guard())
import tellmore, tellmore.cli
for name in set(tellmore.__all__) - {"Project"}:
    getattr(tellmore, name)
try:
    tellmore.Project
except tellmore.MissingExtraError as missing:
    assert "tellmore[app]" in str(missing)
else:
    raise AssertionError("a project needs the extra app")
tellmore.Learner(tellmore.load_pool("words")).ask()
"""
OPTIONAL = {
    "alembic", "dask", "distributed", "fastapi", "matplotlib", "onnx", "pandas", "PIL", "prometheus_client",
    "psycopg", "pyarrow", "pydantic",
    "sklearn", "sqlalchemy", "statsmodels", "torch", "uvicorn",
}  # fmt: skip


def test_the_public_surface_is_pinned() -> None:
    assert set(tellmore.__all__) == PUBLIC
    assert len(tellmore.__all__) == len(PUBLIC)


def test_every_public_name_is_there_and_explains_itself() -> None:
    for name in tellmore.__all__:
        thing = getattr(tellmore, name)
        if callable(thing):
            assert thing.__doc__, name
            for member, value in vars(thing).items() if isinstance(thing, type) else ():
                if callable(value) and not member.startswith("_"):
                    assert value.__doc__, f"{name}.{member}"


PUBLIC_MODULES = ("tellmore", "tellmore.lab", "tellmore.sklearn")


def described(doc: str) -> set[str]:
    """The parameters that a docstring explains, one per line: ``name: what it is``, or several names with commas."""
    lines = re.findall(r"^\s*(\w+(?:, \w+)*)(?: \[.*?\])?: ", doc, flags=re.MULTILINE)
    return {name for line in lines for name in line.split(", ")}


@pytest.mark.parametrize("module", PUBLIC_MODULES)
def test_every_public_name_explains_its_parameters_and_has_an_example(module: str, repository: Path) -> None:
    page = (repository / "docs" / "reference" / "library.md").read_text(encoding="utf-8")
    home = importlib.import_module(module)
    for name in home.__all__:
        thing = getattr(home, name)
        assert re.search(rf"^## `{name}\b", page, flags=re.MULTILINE), f"{name} is not on the page of public names"
        if not callable(thing) or (isinstance(thing, type) and issubclass(thing, BaseException)):
            continue
        wanted = {
            each.name for each in inspect.signature(thing).parameters.values() if each.kind is not each.VAR_KEYWORD
        }
        assert wanted - described(inspect.getdoc(thing) or "") == set(), name
        assert ">>>" in (thing.__doc__ or ""), f"{name} has no example"


def public_methods() -> list[tuple[str, type, str, Any]]:
    """The public name of each public class, the class, and its methods."""
    found = []
    for module in PUBLIC_MODULES:
        home = importlib.import_module(module)
        for public, thing in ((name, getattr(home, name)) for name in home.__all__):
            if isinstance(thing, type) and not issubclass(thing, BaseException):
                methods = inspect.getmembers(thing, inspect.isroutine)
                found += [
                    (public, thing, name, method)
                    for name, method in methods
                    if not name.startswith("_") and str(getattr(method, "__module__", "")).startswith("tellmore")
                ]
    return found


def test_every_public_method_explains_its_parameters_one_by_one(repository: Path) -> None:
    """In its own docstring, or in that of its class if many methods share them; and in a table on the page."""
    page = (repository / "docs" / "reference" / "library.md").read_text(encoding="utf-8")
    sections = {part.partition("\n")[0]: part for part in re.split(r"^#+ ", page, flags=re.MULTILINE)}
    silent, checked = [], 0
    for public, thing, name, method in public_methods():
        docs = [inspect.getdoc(method) or "", *(vars(base).get("__doc__") or "" for base in thing.__mro__[:-1])]
        told = set().union(*map(described, docs))
        given = [each for each in inspect.signature(method).parameters if each != "self"]
        homes = [f"`{home}.{name}`" for home in (public, *(base.__name__ for base in thing.__mro__))]
        section = next((sections[home] for home in homes if home in sections), "")
        rows = re.findall(r"^\| `\**(\w+)` \| .* \| .* \| (.+) \|$", section, flags=re.MULTILINE)
        tabled = {row for row, words in rows if words.strip()}
        silent += [f"{public}.{name}: {each}" for each in given if each not in told or each not in tabled]
        checked += len(given)
    assert silent == []
    assert checked > 150


def test_the_pages_import_public_names_only(repository: Path) -> None:
    for page in [repository / "README.md", *(repository / "docs").glob("*.md")]:
        imported = re.findall(
            r"^\s*(?:from|import) (tellmore[\w.]*)", page.read_text(encoding="utf-8"), flags=re.MULTILINE
        )
        assert set(imported) <= set(PUBLIC_MODULES), page.name


def sources(repository: Path) -> list[Path]:
    return [path for path in (repository / "src").rglob("*.py") if "migrations" not in path.parts]


def test_modules_stay_small_and_have_names_that_say_something(repository: Path) -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in sources(repository)}
    assert {str(path): n for path, n in lengths.items() if n >= MAX_LINES} == {}
    assert not [path for path in lengths if path.stem in {"utils", "helpers", "misc", "common"}]


def test_every_module_says_what_it_is(repository: Path) -> None:
    silent = [
        path
        for path in sources(repository)
        if not path.read_text(encoding="utf-8").lstrip().startswith(('"""', 'r"""'))
    ]
    assert silent == []


def test_the_table_of_rooms_is_the_checked_order_of_imports(repository: Path) -> None:
    page = (repository / "ARCHITECTURE.md").read_text(encoding="utf-8")
    first_cells = re.findall(r"^\| (`.*?) \|", page, flags=re.MULTILINE)
    rooms = [name for cell in first_cells for name in re.findall(r"`(\w+)/?`", cell)]
    settings = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (each["layers"] for each in settings["tool"]["importlinter"]["contracts"] if each["type"] == "layers")
    assert rooms == re.findall(r"\w+", " ".join(layers))


def test_the_mathematics_needs_numpy_and_scipy_only() -> None:
    graph = grimp.build_graph("tellmore", include_external_packages=True, cache_dir=None)
    rooms = ("tellmore.core", "tellmore.kinds")
    pure = {*rooms, "tellmore.types", "tellmore.errors"}.union(*map(graph.find_descendants, rooms))
    imported = set().union(*map(graph.find_modules_directly_imported_by, pure))
    packages = {name.partition(".")[0] for name in imported}
    assert packages - sys.stdlib_module_names == {"numpy", "scipy", "tellmore"}


def test_the_library_works_on_the_base_dependencies_alone() -> None:
    code = f"OPTIONAL = {OPTIONAL!r}\n{BASE_ONLY}"
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_pinned_versions_carry_names_and_versions_only(repository: Path) -> None:
    lines = (repository / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert len(pins) > 50
    assert [line for line in pins if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+]+", line)] == []


def test_the_lock_file_carries_no_download_addresses(repository: Path) -> None:
    lock = repository / "web" / "package-lock.json"
    packages = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    assert [name for name, package in packages.items() if "resolved" in package] == []


def declared(repository: Path) -> set[str]:
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = project["dependencies"] + [
        entry for name, entries in extras.items() if name != "torch" for entry in entries
    ]
    return {re.match(r"[A-Za-z0-9._-]+", entry).group().lower().replace("_", "-") for entry in wanted}  # type: ignore[union-attr]


def test_every_dependency_but_torch_is_pinned(repository: Path) -> None:
    lines = (repository / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {line.partition("==")[0].lower().replace("_", "-") for line in lines}
    assert declared(repository) - pinned == {"tellmore"}


@pytest.mark.parametrize(
    "extra",
    ["cli", "app", "lab", "race", "sklearn", "onnx", "files", "datasets", "dask", "postgres", "torch", "all"],
)
def test_the_promised_extras_exist(repository: Path, extra: str) -> None:
    extras = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    assert extras[extra]
    assert extra != "all" or "torch" not in str(extras["all"])
