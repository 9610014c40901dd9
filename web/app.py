"""The composition root: the commands of `reconciler.cli`, and those that run a whole process of their own."""

from __future__ import annotations

from reconciler.cli.app import make_app
from web import sandbox, serving
from web.commands import agent, contract, links, mcp, tokens
from web.demo import command as demo

app = make_app()
for _part in (serving, tokens, links, contract, mcp, agent, demo, sandbox):
    _part.add_to(app)
