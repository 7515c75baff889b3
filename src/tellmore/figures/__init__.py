"""One function per figure or table of the paper: rows in, picture out."""
