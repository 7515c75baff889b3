"""Pools that are too large for one machine: Dask workers hold their embeddings and the scores of their items.

``held`` runs on the workers, ``workers`` talks to them, ``pool`` is what a learner sees.
"""
