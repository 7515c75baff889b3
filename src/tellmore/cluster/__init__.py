"""Pools that are too large for one machine: their embeddings and scores are on Dask workers.

``held`` runs on the workers, ``workers`` communicates with them, ``pool`` is the learner's interface.
"""
