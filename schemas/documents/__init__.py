"""The documents people write, one file per kind, and the way from files to documents.

What belongs here: shapes, rules, the cost of changing each field, and errors that say where and what to do.
Nothing here knows what AWS calls follow from a document.
"""
