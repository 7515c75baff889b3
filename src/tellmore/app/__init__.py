"""The web application: people teach in the browser."""
