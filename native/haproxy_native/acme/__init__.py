"""Certificates that HAProxy obtains from an ACME authority: dns-01 challenges, and copies on disk."""
