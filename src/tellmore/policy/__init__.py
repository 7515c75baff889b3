"""What to ask, what it costs, and when to stop."""
