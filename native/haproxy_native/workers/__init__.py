"""Observe the current worker of HAProxy, and end old workers that still have sessions after a reload."""
