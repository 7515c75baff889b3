"""Writes the list of tellmore's dependencies, with versions and licences, as CycloneDX JSON.

python scripts/write_sbom.py FILE [REPORT]

REPORT is the output of `pip install --dry-run --report` for a wheel with its extras, so nothing has to be installed. Without it,
the packages are those that the installed tellmore needs, with all extras except the developers', as far as they are installed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

NOT_SHIPPED = {"dev", "docs", "test"}
LICENCE = "License :: OSI Approved :: "
About = dict[str, Any]
"""A package's metadata, under the names that pip uses: name, version, license, requires_dist and so on."""


def installed(name: str, extras: frozenset[str], seen: set[tuple[str, frozenset[str]]]) -> Iterator[About]:
    """``name`` and everything it needs with ``extras``, as installed."""
    if (name.lower(), extras) in seen:
        return
    seen.add((name.lower(), extras))
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return
    yield found.metadata.json
    for line in found.requires or ():
        requirement = Requirement(line)
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in (*extras, "")):
            yield from installed(requirement.name, frozenset(requirement.extras), seen)


def installed_here() -> list[About]:
    """tellmore, and the installed packages that it needs."""
    extras = frozenset(distribution("tellmore").metadata.get_all("Provides-Extra") or ()) - NOT_SHIPPED
    return list(installed("tellmore", extras, set()))


def licence(about: About) -> str:
    """The licence as the package states it: an expression, a line, or a classifier."""
    stated = about.get("license_expression") or (about.get("license") or "").strip().split("\n")[0]
    classed = [line.removeprefix(LICENCE) for line in about.get("classifier") or () if line.startswith(LICENCE)]
    return str(stated or (classed or [""])[0])


def component(about: About) -> dict[str, Any]:
    """One package as a CycloneDX component."""
    name, version = about["name"], about["version"]
    purl = f"pkg:pypi/{name.lower().replace('_', '-')}@{version}"
    known = {"licenses": [{"license": {"name": licence(about)}}]} if licence(about) else {}
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl, **known}


def sbom(packages: list[About]) -> dict[str, Any]:
    """The whole list."""
    found = {about["name"].lower(): about for about in packages}
    own = found.pop("tellmore")
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {**component(own), "type": "application"}},
        "components": [component(found[name]) for name in sorted(found)],
    }


def main(file: str, report: str | None = None) -> None:
    """Write the list to ``file``."""
    planned = [] if report is None else json.loads(Path(report).read_text(encoding="utf-8"))["install"]
    packages = [each["metadata"] for each in planned] or installed_here()
    Path(file).write_text(json.dumps(sbom(packages), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
