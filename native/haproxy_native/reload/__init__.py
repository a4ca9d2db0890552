"""Reload HAProxy: decide when and how, and observe the outcome."""
