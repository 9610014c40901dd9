"""Diagnosis: what is wrong, how sure that is, on what evidence, what to do next, and the command a person could run.

Read-only. One file per subject, each a pure function of `Facts`; the order of advice is investigate, restart, replace.
"""
