"""Collections by name and by place: read, added to, replaced, deleted; the text changes where it was asked to."""

import pytest

from haproxy_native.errors import BadValue, Exists, Missing, NoSuchObject, ReadOnly
from haproxy_native.models import model
from tests.native.objects.text import TEXT, configuration, lines

FIRST = {"type": "deny", "cond": "if", "cond_test": "{ path /x }", "metadata": {"comment": "first"}}


def test_reading_changes_nothing() -> None:
    own = configuration()
    assert list(own.backends) == ["www"]
    assert {name: server.weight for name, server in own.backends["www"].servers.items()} == {"web1": 3, "web2": None}
    assert [rule.type for rule in own.backends["www"].http_request_rules] == ["deny", "allow"]
    assert str(own) == TEXT


def test_an_assignment_changes_its_word_alone() -> None:
    own = configuration()
    own.backends["www"].servers["web1"].weight = 10
    own.backends["www"].balance.algorithm = "leastconn"  # type: ignore[union-attr]
    own.global_.performance_options.maxconn = 7  # type: ignore[union-attr]
    assert lines(own) == [
        "    maxconn 7   # five",
        "    balance   leastconn",
        "    server  web1  127.0.0.1:80   weight 10 # one",
    ]


def test_names() -> None:
    own = configuration()
    servers = own.backends["www"].servers
    servers.add(name="web3", address="127.0.0.1", port=83, check_ssl="enabled").weight = 4
    servers["web4"] = {"address": "127.0.0.1"}  # type: ignore[assignment]
    servers["web2"] = {"address": "127.0.0.2"}  # type: ignore[assignment]
    assert lines(own) == [
        "    server web2 127.0.0.2",
        "    server web3 127.0.0.1:83 check-ssl weight 4",
        "    server web4 127.0.0.1",
    ]
    for name in list(servers):
        del servers[name]
    assert (len(servers), "server" in str(own)) == (0, False)
    assert own.backends.add(name="api", mode="tcp").servers.add(name="a", address="b").port is None


def test_an_object_is_as_good_as_a_mapping() -> None:
    own = configuration()
    servers, rules = own.backends["www"].servers, own.backends["www"].http_request_rules
    servers["web3"] = servers["web2"].model_copy(update={"name": "web3", "port": 83})
    rules.append(model("http_request_rule")(type="tarpit"))
    assert lines(own) == ["    http-request tarpit", "    server web3 127.0.0.1:83 check"]
    with pytest.raises(BadValue, match="port"):
        servers["web4"] = servers["web2"].model_copy(update={"name": "web4", "port": 99999})


def test_a_name_that_is_not_there_is_a_key_error_with_the_nearest() -> None:
    servers = configuration().backends["www"].servers
    with pytest.raises(KeyError) as missing:
        servers["web"]
    assert str(missing.value) == "server web of backend www does not exist, did you mean web2?"
    with pytest.raises(Missing):
        del servers["x"]
    assert servers.get("x") is None
    with pytest.raises(NoSuchObject):
        configuration().backends["ww"]
    with pytest.raises(Exists):
        servers.add(name="web1", address="a")


def test_rows() -> None:
    own = configuration()
    rules = own.backends["www"].http_request_rules
    rules.append({"type": "deny"})
    rules.insert(0, {"type": "allow", "cond": "unless", "cond_test": "{ src 192.0.2.1 }"})
    rules[1].cond_test = "{ path /y }"
    rules[2] = {"type": "tarpit"}  # type: ignore[assignment]
    del rules[-1]
    assert [rule.as_object() for rule in rules] == [
        {"type": "allow", "cond": "unless", "cond_test": "{ src 192.0.2.1 }"},
        {**FIRST, "cond_test": "{ path /y }"},
        {"type": "tarpit"},
    ]
    assert lines(own) == [
        "    http-request allow unless { src 192.0.2.1 }",
        "    http-request deny if { path /y }   # first",
        "    http-request tarpit",
    ]
    assert "    http-request zork" in str(own)


def test_a_row_is_added_by_its_members() -> None:
    own = configuration()
    own.backends["www"].http_request_rules.add(type="tarpit", cond="if", cond_test="x").cond_test = "y"
    assert lines(own) == ["    http-request tarpit if y"]


def test_a_slice_of_rows() -> None:
    own = configuration()
    rules = own.backends["www"].http_request_rules
    rules[:] = [{"type": "allow"}, *rules]  # type: ignore[list-item]
    assert [rule.type for rule in rules] == ["allow", "deny", "allow"]
    del rules[1:]
    assert [rule.type for rule in own.backends["www"].http_request_rules[0:1]] == ["allow"]


def test_what_cannot_stand_in_the_file_is_refused_and_changes_nothing() -> None:
    own = configuration()
    with pytest.raises(BadValue):
        own.backends["www"].http_request_rules.append({"cond": "if"})
    with pytest.raises(BadValue, match="line break"):
        own.backends["www"].servers.add(name="x", address="a", source="a\n  server y b")
    assert str(own) == TEXT


def test_an_object_that_was_deleted_refuses() -> None:
    own = configuration()
    backend = own.backends["www"]
    server, rule = backend.servers["web1"], backend.http_request_rules[0]
    del backend.http_request_rules[0]
    with pytest.raises(ReadOnly, match="deleted or replaced"):
        rule.cond_test = "x"
    del own.backends["www"]
    for each in (server, backend):
        with pytest.raises(ReadOnly, match="deleted or replaced"):
            each.id = 5  # type: ignore[union-attr]


def test_a_section_that_there_is_one_of_is_made_by_the_first_assignment() -> None:
    own = configuration()
    own.traces.entries = []
    assert str(own) == TEXT
    own.traces.entries = [{"trace": "h1 sink stdout"}]  # type: ignore[list-item]
    assert lines(own) == ["traces", "    trace h1 sink stdout"]


def test_whether_a_name_is_there() -> None:
    own = configuration()
    servers = own.backends["www"].servers
    assert "web1" in servers and "web9" not in servers and 1 not in servers
    del own.backends["www"]
    assert "www" not in own.backends and "web1" not in servers
