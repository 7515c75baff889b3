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
