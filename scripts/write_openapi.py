"""Writes the server's OpenAPI description, including the routes of studies; the client's types are made from it.

python scripts/write_openapi.py FILE
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from tellmore.app import api, participants


def description() -> dict[str, Any]:
    """The description of every route that returns JSON; no project is opened for it."""
    study: Any = participants.study_router
    app = FastAPI(title="tellmore")
    for router in (*api.ROUTERS, study(None, None, "cookie", api.study_page, "key")):
        app.include_router(router)
    return app.openapi()


def main() -> None:
    """Write the description to the named file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.parse_args().file.write_text(json.dumps(description()), encoding="utf-8")


if __name__ == "__main__":
    main()
