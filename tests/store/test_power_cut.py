"""A power cut: of every file, only what was synced is left. What was acknowledged must be in that.

A small library under the process keeps a copy of each file as it was when it was last synced; those copies are the disk after
the cut.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tellmore.store.repository import Repository

KEEPS_WHAT_IS_SYNCED = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int keep(int fd, const char *name) {
    int (*real)(int) = dlsym(RTLD_NEXT, name);
    int done = real(fd);
    struct stat about;
    const char *folder = getenv("SYNCED");
    if (done == 0 && folder && fstat(fd, &about) == 0 && S_ISREG(about.st_mode)) {
        char own[64], part[4096], whole[4096], bytes[65536];
        snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
        snprintf(part, sizeof part, "%s/part", folder);
        snprintf(whole, sizeof whole, "%s/%lu", folder, (unsigned long)about.st_ino);
        int from = open(own, O_RDONLY), to = open(part, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        ssize_t n;
        while ((n = read(from, bytes, sizeof bytes)) > 0) if (write(to, bytes, n) != n) abort();
        close(from);
        close(to);
        rename(part, whole);
    }
    return done;
}
int fsync(int fd) { return keep(fd, "fsync"); }
int fdatasync(int fd) { return keep(fd, "fdatasync"); }
"""
ANSWERING = """
import sys
from tellmore.store import database
from tellmore.store.repository import Event, Repository
if sys.argv[2] == "careless":
    careful = database._make_sqlite_durable
    def careless(connection, record):
        careful(connection, record)
        connection.execute("PRAGMA synchronous=OFF")
    database._make_sqlite_durable = careless
store = Repository(sys.argv[1])
store.claim()
number = 0
while True:
    store.append([Event("answer", f"q{number}", "ann", {"n": number})])
    print(number, flush=True)
    number += 1
"""


@pytest.fixture(scope="module")
def keeper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library, compiled."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("no C compiler on Linux to make a disk that loses what was not synced")
    folder = tmp_path_factory.mktemp("keeper")
    (folder / "keeper.c").write_text(KEEPS_WHAT_IS_SYNCED, encoding="utf-8")
    command = [compiler, "-shared", "-fPIC", "-o", str(folder / "keeper.so"), str(folder / "keeper.c"), "-ldl"]
    subprocess.run(command, check=True)
    return folder / "keeper.so"


def left_after_a_cut(keeper: Path, folder: Path, how: str, answers: int) -> tuple[set[int], set[int]]:
    """Which answers were acknowledged, and which are there after the power is back."""
    before, synced, after = (folder / name for name in ("before", "synced", "after"))
    for each in (before, synced, after):
        each.mkdir()
    environment = {**os.environ, "LD_PRELOAD": str(keeper), "SYNCED": str(synced)}
    command = [sys.executable, "-c", ANSWERING, f"sqlite:///{before / 'log.sqlite'}", how]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        acknowledged = {int(process.stdout.readline()) for _ in range(answers)}
        process.kill()
        acknowledged |= {int(line) for line in process.stdout if line.endswith("\n")}
    for path in before.glob("log.sqlite*"):
        kept = synced / str(path.stat().st_ino)
        if kept.exists() and not path.name.endswith("-shm"):
            shutil.copy(kept, after / path.name)
    with closing(Repository(f"sqlite:///{after / 'log.sqlite'}")) as store:
        return acknowledged, {event.payload["n"] for event in store.since(kinds=["answer"])}


def test_no_acknowledged_answer_is_lost_in_a_power_cut(keeper: Path, tmp_path: Path) -> None:
    acknowledged, left = left_after_a_cut(keeper, tmp_path, "careful", 40)
    assert len(acknowledged) >= 40
    assert acknowledged <= left


def test_the_disk_of_this_test_does_lose_what_is_not_synced(keeper: Path, tmp_path: Path) -> None:
    acknowledged, left = left_after_a_cut(keeper, tmp_path, "careless", 40)
    assert not acknowledged <= left
