"""Pools of items and their embeddings: bundled, from files, from project folders."""

from tellmore.data.bundled import load_pool
from tellmore.pool import Pool
from tellmore.ratings import Scores

__all__ = ["Pool", "Scores", "load_pool"]
