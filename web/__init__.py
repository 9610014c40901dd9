"""The composition root: loop and faces as one process, and the entry point `instantstart`."""
