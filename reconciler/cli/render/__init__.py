"""Views as words for people."""
