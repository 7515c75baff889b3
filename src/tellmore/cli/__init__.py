"""The command line: parses, calls, prints; no logic."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
