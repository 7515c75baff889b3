"""The command ``tellmore``, also as ``python -m tellmore``; the library alone comes without what it needs."""

import sys


def main() -> None:
    """Run one command, or say in one line which extra brings the command line."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError as missing:
        from tellmore.errors import MissingExtraError

        print(f"error: {MissingExtraError(missing.name or 'typer', 'app')}", file=sys.stderr)  # noqa: T201
        sys.exit(1)
    from tellmore.cli import main as run

    run()


if __name__ == "__main__":
    main()
