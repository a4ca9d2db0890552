"""Changes that are rolled back automatically after a time, unless they are confirmed."""
