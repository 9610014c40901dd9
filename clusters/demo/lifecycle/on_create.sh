#!/bin/bash
# Runs once on every new node, before it joins the cluster. Nothing is needed by default.
# Fetch nothing from the internet here: a mirror that is down for a minute would cost you the node.
set -euo pipefail
echo "node prepared"
