"""EC2: the network a cluster lives in, from zones to the security group of its nodes."""
