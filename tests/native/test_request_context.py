"""Compare authors of changes by their identity, without their rights."""

from haproxy_native.access.rights import Rights
from haproxy_native.request_context import Author


def test_authors_are_compared_by_who_they_are() -> None:
    assert Author("ann", rights=Rights(("viewer",))) == Author("ann") != Author("bob")
    assert "viewer" not in repr(Author("ann", rights=Rights(("viewer",))))
