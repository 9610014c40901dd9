"""The config repository: the only floor that imports `git`."""
