"""Journal lines: write, read, fold. Pure."""
