"""The REST API under /api/v1: thin routes over `reconciler`, one file per noun; the one contract of all faces."""
