"""A Kubernetes API server in memory, served over TLS, and simulators that live in it as ordinary clients.

It imports nothing of the product. Where the real server's behaviour is
in doubt, this one is the stricter of the two, never the kinder.
"""
