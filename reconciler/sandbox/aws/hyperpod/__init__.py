"""Simulated HyperPod on EKS: clusters, instance groups, nodes, events.

`clusters`, `updates` and `nodes` answer API calls; `provisioning` lives through time; the rest is what they know.
"""
