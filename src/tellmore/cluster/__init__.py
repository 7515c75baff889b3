"""Pools that are too large for one machine: their embeddings and scores are on Dask workers.

``held`` runs on the workers, ``workers`` talks to them, ``pool`` is what a learner sees.
"""
