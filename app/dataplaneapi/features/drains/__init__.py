"""Servers taken out of service, and former workers ended, when they are idle."""
