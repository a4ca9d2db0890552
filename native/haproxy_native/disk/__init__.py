"""Read, replace and back up configuration files, and recover them after a crash."""
