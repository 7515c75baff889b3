"""What to ask, how long it takes, and when to stop."""
