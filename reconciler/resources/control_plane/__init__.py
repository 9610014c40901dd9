"""EKS: the cluster, who may enter it, and its add-ons."""
