"""Simulated EKS: clusters, add-ons, access entries, pod identity associations, node groups, tokens of the API.

Each file is one resource: its records change here and nowhere else.
"""
