"""The append-only log of a project, and the only module that touches a database."""
