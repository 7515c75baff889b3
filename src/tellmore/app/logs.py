"""The server's own log: lines for people, or JSON for machines. Repeated lines are limited."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal, get_args

LogFormat = Literal["text", "json"]
FORMATS: tuple[str, ...] = get_args(LogFormat)
AGAIN_AFTER_S = 60.0
REQUESTS = logging.getLogger("tellmore.requests")


class Seldom(logging.Filter):
    """Logs a warning once, and again after a minute with the number left out, because strangers can cause many warnings."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._seen: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to log the record now."""
        if record.levelno < logging.WARNING:
            return True
        key, now = str(record.msg)[:60], self._clock()
        since, left_out = self._seen.get(key, (-AGAIN_AFTER_S, 0))
        if now - since < AGAIN_AFTER_S:
            self._seen[key] = (since, left_out + 1)
            return False
        self._seen[key] = (now, 0)
        if left_out:
            record.msg, record.args = f"{record.getMessage()} (and {left_out} times before)", ()
        return True


class JsonLines(logging.Formatter):
    """One JSON object per line: time, level, logger, message, and any ``extra`` fields."""

    _OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "taskName", "color_message"}

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        said = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **{key: value for key, value in vars(record).items() if key not in self._OWN},
        }
        if record.exc_info:
            said["exception"] = self.formatException(record.exc_info)
        return json.dumps(said, default=str)


def set_up(log_format: LogFormat = "text") -> None:
    """Write warnings to stderr; as JSON, a line for every request too."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(Seldom())
    if log_format == "json":
        handler.setFormatter(JsonLines())
        REQUESTS.setLevel(logging.INFO)
    else:
        handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
