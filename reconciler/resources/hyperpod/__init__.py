"""HyperPod clusters, their instance groups and node reboots: what one DescribeCluster shows and one lane changes."""
