"""The tools, one small file per group. Each is a typed function of a `Call`; `TOOLS` says what it needs and may do."""
