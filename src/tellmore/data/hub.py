"""Whether the hub of models and datasets can be reached, and how to go on without it.

A hub that cannot be reached is noticed at once: the libraries by themselves try every file again and again, for minutes.
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
    """Whether a download may be tried. Not asked where the user has said HF_HUB_OFFLINE."""
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
        return isinstance(error.reason, ssl.SSLError)  # there, only with a certificate that the library may know
    except (OSError, ValueError):
        return False


@contextmanager
def offline(*settings: Any) -> Iterator[None]:
    """Only what an earlier download has left on this machine. ``settings``: those of libraries that keep a copy of the hub's."""
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
