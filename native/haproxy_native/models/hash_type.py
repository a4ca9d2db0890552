# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model


class HashType(Model):
    """How hashes are mapped to servers, the hash-type line (HAProxy Configuration Manual, section 4.2)."""

    function: Literal['sdbm', 'djb2', 'wt6', 'crc32', 'none'] | None = None
    """Hash function."""
    method: Literal['map-based', 'consistent'] | None = None
    """Whether few servers change places when one comes or goes, or the mapping is even."""
    modifier: Literal['avalanche'] | None = None
    """What is done to the result of the hash function."""
