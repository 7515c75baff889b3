"""The command ``tellmore``, also as ``python -m tellmore``; its dependencies are an extra of the package."""

import sys


def main() -> None:
    """Run one command, or print one line that names the extra to install."""
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
