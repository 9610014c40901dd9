"""Helm releases: the chart at its pinned commit, the helm binary behind a small interface, the release as stored."""
