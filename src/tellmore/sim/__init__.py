"""The laboratory: simulated annotators on real human scores."""
