"""MCP tools over the REST API. Talks HTTP; of ours it imports `schemas` only."""
