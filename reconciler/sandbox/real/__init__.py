"""A real Kubernetes API in place of the simulated one: etcd and kube-apiserver as processes beside the sandbox.

Belongs here: starting and stopping them, and who may enter, as EKS says. What lives in the cluster (nodes, scheduler,
controllers) are the simulators, which are ordinary clients. Building the programs is not the sandbox's business.
"""
