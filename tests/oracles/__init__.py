"""Slow, obvious implementations that the fast ones are compared with. They import nothing from tellmore."""
