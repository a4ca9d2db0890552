"""Changes that are taken back after a time, unless they are confirmed."""
