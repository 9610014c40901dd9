"""The demo: a whole life of a cluster against the sandbox, without an AWS account."""
