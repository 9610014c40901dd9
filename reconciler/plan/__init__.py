"""Pair, diff, order, gate. Pure: no clock, no network, no logging."""
