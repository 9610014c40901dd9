"""The config repository: the only floor that imports `git`.

Here belongs what turns names into objects and objects into refs: reading any revision without a work tree, commits by
compare-and-swap, the journal's notes, orders. It knows no document, no journal line and no cloud: bytes in, bytes out.
The door is `repo.ConfigRepo`; `process` holds the one import of GitPython.
"""
