"""Record every change: who made it, when and why, its effects, and the contents of files that are needed to revert it."""
