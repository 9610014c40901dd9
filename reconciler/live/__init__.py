"""Clients of AWS and Kubernetes: sessions, errors, paging, budgets, tokens. Knows no resource."""
