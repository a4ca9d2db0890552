"""Commits: the only way in which a change reaches the file and the process, and the state that this server knows of both."""
