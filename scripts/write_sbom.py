"""Write the list of what tellmore runs on, with versions and licences, as CycloneDX JSON.

python scripts/write_sbom.py FILE

Python packages are those that the installed tellmore needs with all its extras but the developers', as installed here; packages
that are not installed are left out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

NOT_SHIPPED = {"dev", "docs", "test"}


def needed(name: str, extras: frozenset[str], seen: dict[tuple[str, frozenset[str]], None]) -> Iterator[Distribution]:
    """``name`` and everything it needs with ``extras``, as installed."""
    if (name.lower(), extras) in seen:
        return
    seen[name.lower(), extras] = None
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return
    yield found
    for line in found.requires or ():
        requirement = Requirement(line)
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in (*extras, "")):
            yield from needed(requirement.name, frozenset(requirement.extras), seen)


def component(found: Distribution) -> dict[str, Any]:
    """One package in CycloneDX's words."""
    about = found.metadata
    name, version = about["Name"], found.version
    purl = f"pkg:pypi/{name.lower().replace('_', '-')}@{version}"
    licences = about.get_all("License-Expression") or about.get_all("License") or [""]
    licence = licences[0].split("\n")[0].strip()
    known = {"licenses": [{"license": {"name": licence}}]} if licence else {}
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl, **known}


def sbom() -> dict[str, Any]:
    """The whole list."""
    own = distribution("tellmore")
    extras = frozenset(own.metadata.get_all("Provides-Extra") or ()) - NOT_SHIPPED
    found = {each.metadata["Name"].lower(): each for each in needed("tellmore", extras, {})}
    del found["tellmore"]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {**component(own), "type": "application"}},
        "components": [component(found[name]) for name in sorted(found)],
    }


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(sbom(), indent=1) + "\n", encoding="utf-8")
