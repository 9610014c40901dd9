"""Clients of AWS and Kubernetes: errors, paging, budgets, identity, tokens. It knows no resource.

Reads may retry, a mutation leaves at most once (the engine is the only one who sends again), and what goes wrong
comes out as the error tree of `schemas.errors`, redacted and cut, so that it may stand in notes and logs.
"""
