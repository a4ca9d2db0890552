"""With whose rights goes on what a caller has begun."""

import pytest

from haproxy_native.access.initiator import Initiator
from haproxy_native.access.rights import AccessRule, Rights
from haproxy_native.errors import Forbidden
from haproxy_native.request_context import Author

READER = Rights(("reader",), (AccessRule("**"),))


def begun_by(by: Author) -> Initiator:
    """As it comes back from the disk."""
    return Initiator.from_dict(Initiator.from_author(by).as_dict() | {"of a later version": 1})


def test_the_rights_of_now() -> None:
    ann = begun_by(Author("ann", "192.0.2.1", "r-1", "why", rights=Rights(("editor",)), group="users"))
    now = ann.author(lambda group, name: READER if (group, name) == ("users", "ann") else None)
    assert (now.name, now.address, now.message, now.request_id, now.identity) == ("ann", "192.0.2.1", "why", "", "users/ann")
    assert now.rights is READER
    assert ann.author(lambda group, name: None).rights is None


@pytest.mark.parametrize("by", [Author("ann", group="users"), Author("ann", rights=READER), Author(rights=READER)])
def test_one_without_a_role(by: Author) -> None:
    """Also one of whom it is not known where it has its role from."""
    with pytest.raises(Forbidden, match="no longer has a role"):
        begun_by(by).author(lambda group, name: Rights())


def test_what_the_server_or_a_file_has_begun_is_not_limited() -> None:
    assert begun_by(Author()).author(lambda group, name: Rights()).rights is None
