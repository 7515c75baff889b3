"""Builds the documentation as a site, without network: runs the notebooks, checks every link, writes FOLDER.

python scripts/build_site.py FOLDER
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent


def build(folder: Path) -> int:
    """Run MkDocs and return its exit code; a warning, such as a broken link, is an error."""
    environment = os.environ | {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",  # the notebooks call tellmore
        "NO_MKDOCS_2_WARNING": "1",
    }
    command = [BIN / "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder.resolve()]
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the site is written; what is there is replaced")
    sys.exit(build(parser.parse_args().folder))
