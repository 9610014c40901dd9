"""The simulated AWS: moto for the broad services, our own HyperPod, EKS and Service Quotas beside it.

Belongs here: how a request is read, checked, answered, logged and made to fail, and the rules of the services.
Never here: anything of reconciler.live or reconciler.resources. A mapping shared by both sides would hide its bugs.
"""
