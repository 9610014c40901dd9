"""Buckets, the objects we keep in them, and volumes on buckets."""
