"""Pools of items and their embeddings: bundled, from files, from project folders."""
