"""Changes that are rolled back automatically unless they are confirmed."""
