"""IAM: roles by name with their trust and policies, and the identity provider of a cluster."""
