"""Objects of the running process: what the history keeps of a change of one, and how it is taken back, by a table of kinds."""
