"""``python -m tellmore`` is the command ``tellmore``."""

from tellmore.cli import main

main()
