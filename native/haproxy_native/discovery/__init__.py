"""Service discovery: keeps backends in step with services that are found elsewhere."""
