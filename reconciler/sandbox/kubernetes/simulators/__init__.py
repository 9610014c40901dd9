"""What lives in a cluster: nodes, a scheduler, a kubelet, the built-in controllers. Ordinary clients over HTTPS.

They need a URL, a CA and a token, so they run against a real
kube-apiserver as well. Nothing here touches the server's state directly.
"""
