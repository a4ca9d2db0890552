"""Objects of a configuration: what may be assigned to them, and what is refused."""

from typing import Any

import pytest

from haproxy_native.editing.resources import resources
from haproxy_native.errors import BadValue, ReadOnly, UnknownMember
from haproxy_native.objects.bound import bound_type, check_object, children_of, new_object, object_of_file, refuse_unknown
from tests.native.objects.text import configuration

SERVERS, BACKENDS = resources()["servers"], resources()["backends"]
SERVER = bound_type(SERVERS)


def server(**members: Any) -> Any:
    return new_object(SERVER, {"name": "a", "address": "b", **members}, "server a")


@pytest.mark.parametrize("name", ["check_ssl", "check-ssl"])
def test_a_member_has_its_name_of_the_api_and_of_an_attribute(name: str) -> None:
    made_so = server(**{name: "enabled"})
    assert (made_so.check_ssl, made_so.as_object()) == ("enabled", {"address": "b", "name": "a", "check-ssl": "enabled"})


def test_only_what_is_set_is_shown() -> None:
    assert str(server(weight=5)) == "Server(weight=5, address='b', name='a')"


def test_an_unknown_member_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownMember, match="server a has no member wieght, did you mean weight?"):
        server().wieght = 5
    with pytest.raises(UnknownMember, match="did you mean address?"):
        new_object(SERVER, {"name": "a", "adress": "b"}, "server a")
    with pytest.raises(AttributeError):
        server().nothing = 1


def test_also_inside_an_object() -> None:
    backend = configuration().backends["www"]
    with pytest.raises(UnknownMember, match="backend www: balance has no member algoritm, did you mean algorithm?"):
        backend.balance = {"algoritm": "leastconn"}  # type: ignore[assignment]
    with pytest.raises(UnknownMember):
        refuse_unknown("x", {"a": 1}, {})


@pytest.mark.parametrize(("member", "value"), [("weight", "5"), ("check", "on"), ("port", 70000)])
def test_a_value_that_the_schema_does_not_allow_is_refused(member: str, value: Any) -> None:
    own = server()
    with pytest.raises(BadValue, match=f"server a: {member}: ") as refused:
        setattr(own, member, value)
    assert refused.value.place and refused.value.place.member == member
    assert own.as_object() == {"address": "b", "name": "a"}


def test_what_is_assigned_inside_is_checked_when_it_is_written() -> None:
    own = configuration().backends["www"]
    assert own.balance
    own.balance.algorithm = "fastest"  # type: ignore[assignment]
    with pytest.raises(BadValue, match="balance.algorithm"):
        check_object(own)


def test_a_value_of_the_file_that_the_schema_does_not_allow_is_there() -> None:
    assert object_of_file(SERVER, {"name": "a", "address": "b", "port": 99999}, "server a").as_object()["port"] == 99999


def test_an_object_that_belongs_to_no_change_refuses() -> None:
    own = server()
    own._refusal = "not now"
    with pytest.raises(ReadOnly, match="server a: not now"):
        own.weight = 5


def test_a_section_s_own_members_leave_room_for_its_collections() -> None:
    for resource in resources().by_name.values():
        if resource.kind in ("section", "singleton") and not resource.parents:
            kind = bound_type(resource)
            assert not {child.name for child in children_of(resource)} & kind.model_fields.keys(), resource.name
