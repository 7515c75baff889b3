"""A private PostgreSQL server for the tests, with its own data folder and a free loopback port; it is removed at the end."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROLE = "tellmore"


class NoPostgresError(Exception):
    """There is no PostgreSQL server to start here."""


def _binaries() -> Path:
    """The folder of initdb and pg_ctl: Debian's, newest version first, or else the one on PATH."""
    versions = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]), reverse=True
    )
    on_path = shutil.which("initdb")
    if versions:
        return versions[0].parent
    if on_path:
        return Path(on_path).resolve().parent
    raise NoPostgresError("no PostgreSQL server is installed (Debian: apt install postgresql)")


def _unprivileged_user() -> str | None:
    """The user to run the server if we are root, because PostgreSQL refuses to run as root: its own user, or nobody."""
    if os.geteuid() != 0:
        return None
    import pwd

    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def private_postgres() -> Iterator[str]:
    """Start a server with an empty database and yield its URL; raises NoPostgresError if none can be started."""
    binaries, user = _binaries(), _unprivileged_user()
    folder = Path(tempfile.mkdtemp(prefix="tellmore-postgres-"))
    try:
        yield from _serve(binaries, user, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _serve(binaries: Path, user: str | None, folder: Path) -> Iterator[str]:
    password, port, data = secrets.token_hex(16), _free_port(), folder / "data"
    secret = folder / "password"
    secret.write_text(password, encoding="utf-8")
    if user is not None:
        for path in (folder, secret):
            shutil.chown(path, user)

    def run(program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(binaries / program), *arguments],
            user=user,
            cwd=folder,
            text=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        if done.returncode != 0:
            raise NoPostgresError(f"{program} failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")

    run("initdb", "-D", str(data), "-U", ROLE, "-A", "scram-sha-256", f"--pwfile={secret}", "-E", "UTF8", "--no-sync")
    settings = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=50"
    run("pg_ctl", "-D", str(data), "-l", str(folder / "log"), "-o", settings, "-w", "start")
    try:
        # initdb makes the database "postgres", which only the tests use.
        yield f"postgresql://{ROLE}:{password}@127.0.0.1:{port}/postgres"
    finally:
        run("pg_ctl", "-D", str(data), "-m", "immediate", "-w", "stop")
