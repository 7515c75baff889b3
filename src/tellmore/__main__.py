"""``python -m tellmore`` is the command ``tellmore``."""

from tellmore.cli import main

if __name__ == "__main__":
    main()
