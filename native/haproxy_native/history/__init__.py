"""The journal of every change: who made it, when, why, what it did, and the contents that revert it."""
