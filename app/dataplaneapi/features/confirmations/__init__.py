"""Changes that are taken back unless they are confirmed."""
