"""Service discovery: servers of backends follow the instances that Consul or AWS reports."""
