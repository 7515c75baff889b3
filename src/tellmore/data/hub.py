"""Whether the hub of models and datasets can be reached, and how to continue without it.

A hub that cannot be reached is detected at once; the libraries by themselves would retry every file for minutes.
"""

from __future__ import annotations

import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

HUB_PATIENCE_S = 5.0


def hub_answers() -> bool:
    """Whether a download may be tried. The hub is not contacted if the user has set HF_HUB_OFFLINE."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return True
    try:
        request = urllib.request.Request(constants.ENDPOINT, method="HEAD")
        with urllib.request.urlopen(request, timeout=HUB_PATIENCE_S):
            return True
    except urllib.error.HTTPError:
        return True
    except urllib.error.URLError as error:
        return isinstance(error.reason, ssl.SSLError)  # it responds; the library may accept its certificate
    except (OSError, ValueError):
        return False


@contextmanager
def offline(*settings: Any) -> Iterator[None]:
    """Use only earlier downloads on this machine. ``settings`` are modules of libraries that copy the hub's settings."""
    from huggingface_hub import constants

    every = (constants, *settings)
    before = [each.HF_HUB_OFFLINE for each in every]
    for each in every:
        each.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        for each, was in zip(every, before, strict=True):
            each.HF_HUB_OFFLINE = was
