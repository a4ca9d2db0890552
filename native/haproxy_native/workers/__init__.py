"""Observe and end the workers of one HAProxy: the current one, and former ones that reloads have replaced and that still have sessions."""
