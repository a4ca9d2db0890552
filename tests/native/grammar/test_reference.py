"""References lead to what stands at their place, or raise."""

import pytest

from haproxy_native.grammar.schema import followed, name_of, target

SERVER = {"type": "object"}
DOCUMENT = {"components": {"schemas": {"server": SERVER, "alias": {"$ref": "#/components/schemas/server"}}}, "info": "text"}


def test_what_is_no_reference_is_itself() -> None:
    assert followed(DOCUMENT, SERVER) is SERVER
    assert name_of(SERVER) is None


def test_references_are_followed_to_their_end() -> None:
    assert followed(DOCUMENT, {"$ref": "#/components/schemas/alias"}) is SERVER
    assert name_of({"$ref": "#/components/schemas/alias"}) == "alias"


@pytest.mark.parametrize("place", ["#/components/schemas/none", "#/info/text", "#/components/schemas/server/type/object"])
def test_a_place_that_is_not_there(place: str) -> None:
    with pytest.raises(KeyError):
        target(DOCUMENT, place)
