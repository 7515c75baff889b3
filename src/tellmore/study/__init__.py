"""Response-time studies: their design and their analysis."""
