"""Kubernetes: one connection per cluster, apply, list, watch, comparison and health of plain objects."""
