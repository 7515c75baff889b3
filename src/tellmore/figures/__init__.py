"""One function per figure or table of the paper, which turns rows into a picture."""
