"""Teach a binary classifier over off-the-shelf embeddings by labels, picks and rankings."""

__version__ = "0.1.0"
