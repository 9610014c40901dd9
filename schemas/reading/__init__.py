"""Strict text: bytes to plain JSON values, with the line and column of everything that is wrong.

What belongs here: YAML 1.2 core and JSON, their positions and their faults. What a document *means* does not.
"""
