"""Alembic migrations of the log; every release can open the databases of all earlier ones."""
