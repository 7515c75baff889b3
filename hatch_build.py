"""Puts the built browser client into the wheel."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WITHOUT_CLIENT = "TELLMORE_WITHOUT_CLIENT"


class ClientBuildHook(BuildHookInterface[Any]):
    """Builds the client with npm if it is not built yet; a wheel without it would serve no pages."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before each build. The client is left out of editable installs, and on request."""
        root = Path(self.root)
        if (
            version == "editable"
            or (root / "src/tellmore/app/static/index.html").exists()
            or os.environ.get(WITHOUT_CLIENT)
        ):
            return
        npm = shutil.which("npm")
        if npm is None:
            raise SystemExit(
                "error: the browser client is not built and npm was not found; install Node.js 20 or newer, "
                f"run `make wheel`, or set {WITHOUT_CLIENT}=1 for the library alone"
            )
        for step in (
            [
                "install",
                "--no-save",
                "--no-audit",
                "--no-fund",
                "--loglevel=error",
                "--fetch-retries=2",
                "--fetch-timeout=60000",
            ],
            ["run", "--silent", "build"],
        ):
            subprocess.run([npm, "--prefix", "web", *step], cwd=root, check=True)
