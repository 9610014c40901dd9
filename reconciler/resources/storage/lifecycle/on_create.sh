#!/bin/bash
# Runs once on every new HyperPod node, as root, before the node joins the EKS cluster.
# HyperPod's own image has everything a node needs; this only leaves a trace. A failing script makes HyperPod try the
# instance again and again, each time billed: do little here, and nothing that needs the network.
set -euo pipefail

log_dir=/var/log/provision
log_file="$log_dir/provisioning.log"
mkdir -p "$log_dir"

# The log agent picks this file up; keep a copy on standard output for the console.
exec > >(tee -a "$log_file") 2>&1

stamp() { date -u +%Y-%m-%dT%H:%M:%SZ; }
trap 'echo "$(stamp) on_create.sh failed in line $LINENO"' ERR

echo "$(stamp) on_create.sh starts on $(uname -n), kernel $(uname -r)"
df -h / | tail -n 1
if [[ -d /opt/sagemaker ]]; then
  df -h /opt/sagemaker | tail -n 1
fi
echo "$(stamp) on_create.sh is done"
