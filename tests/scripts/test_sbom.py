"""The list of dependencies: what is shipped is on it, with its version; what developers use is not."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_list_names_what_is_shipped_with_its_version(tmp_path: Path) -> None:
    file = tmp_path / "tellmore.cdx.json"
    subprocess.run([sys.executable, ROOT / "scripts" / "write_sbom.py", file], check=True)
    listed = json.loads(file.read_text(encoding="utf-8"))
    assert (listed["bomFormat"], listed["metadata"]["component"]["name"]) == ("CycloneDX", "tellmore")
    versions = {component["name"].lower(): component["version"] for component in listed["components"]}
    assert {name: versions[name] for name in ("numpy", "fastapi", "h11")} == {
        name: version(name) for name in ("numpy", "fastapi", "h11")
    }
    assert not {"pytest", "mypy", "ruff", "tellmore"} & set(versions)
    assert all(component["purl"].startswith("pkg:pypi/") for component in listed["components"])


def test_the_list_is_written_from_what_pip_would_install(tmp_path: Path) -> None:
    """The form of `pip install --dry-run --report`."""
    packages = [
        {"name": "tellmore", "version": "1.0", "license_expression": "Apache-2.0"},
        {"name": "Some_Thing", "version": "2.0", "classifier": ["License :: OSI Approved :: BSD License"]},
    ]
    (tmp_path / "report.json").write_text(json.dumps({"install": [{"metadata": each} for each in packages]}))
    script = [sys.executable, ROOT / "scripts" / "write_sbom.py"]
    subprocess.run([*script, tmp_path / "sbom.json", tmp_path / "report.json"], check=True)
    listed = json.loads((tmp_path / "sbom.json").read_text(encoding="utf-8"))
    assert listed["metadata"]["component"]["version"] == "1.0"
    (other,) = listed["components"]
    assert other["purl"] == "pkg:pypi/some-thing@2.0"
    assert other["licenses"] == [{"license": {"name": "BSD License"}}]
