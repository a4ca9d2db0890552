"""Names of objects and their paths."""

import pytest

from dataplaneapi.ctl.failures import Failure
from dataplaneapi.ctl.kinds import COLLECTIONS
from dataplaneapi.ctl.objects import CONFIGURATION, kinds, parse_object


@pytest.mark.parametrize(
    ("words", "path", "name"),
    [
        (["backend"], "/backends", "backend"),
        (["backends"], "/backends", "backend"),
        (["backend", "shop"], "/backends/shop", "backend/shop"),
        (["backend/shop"], "/backends/shop", "backend/shop"),
        (["backend/shop/server"], "/backends/shop/servers", "backend/shop/server"),
        (["backend/shop/server", "a/b"], "/backends/shop/servers/a%2Fb", "backend/shop/server/a%2Fb"),
        (["backend/shop%2F1/servers/web1"], "/backends/shop%2F1/servers/web1", "backend/shop%2F1/server/web1"),
        (["backend/shop/http_request_rule/0"], "/backends/shop/http_request_rules/0", "backend/shop/http_request_rule/0"),
        (["global"], "/global", "global"),
        (["global/log_target"], "/global/log_targets", "global/log_target"),
        (["peers"], "/peer_section", "peer_section"),
        (["resolvers/dns/nameserver/one"], "/nameservers/one", "resolver/dns/nameserver/one"),
    ],
)
def test_places_in_the_configuration(words: list[str], path: str, name: str) -> None:
    found = parse_object(words)
    assert (found.path, str(found)) == (CONFIGURATION + path, name)


def test_what_belongs_into_the_query() -> None:
    assert parse_object(["resolver/dns/nameserver"]).query == {"resolver": "dns"}
    assert parse_object(["backend/shop"]).query == {"full_section": "true"}
    assert parse_object(["backend"]).query == parse_object(["backend/shop/server/a"]).query == {}


def test_files_and_the_running_process() -> None:
    assert parse_object(["map", "hosts.map"]).path == "/v3/services/haproxy/storage/maps/hosts.map"
    assert parse_object(["backend/shop/server/a"], runtime=True).path == "/v3/services/haproxy/runtime/backends/shop/servers/a"
    assert parse_object(["info"], runtime=True).is_one


@pytest.mark.parametrize("kind", COLLECTIONS)
def test_each_kind_is_parsed_as_itself(kind: str) -> None:
    above, _, last = kind.rpartition("/")
    words = f"{above}/x/{last}" if above and above != "global" else kind
    assert parse_object([words]).kind == kind
    assert parse_object([words]).path.startswith(f"{CONFIGURATION}/{COLLECTIONS[kind].partition('{')[0].partition('?')[0]}".rstrip("/"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["backen"], "did you mean backend?"),
        (["server"], "backend/NAME/server"),
        (["backend/shop/sever"], "did you mean server?"),
        (["backend", "a", "b"], "too many words"),
        (["backend/shop/server/a", "b"], "is not an object"),
    ],
)
def test_what_is_no_object(words: list[str], message: str) -> None:
    with pytest.raises(Failure, match=message):
        parse_object(words)


def test_kinds_are_those_of_the_first_word() -> None:
    assert {"backend", "map", "operation"} <= set(kinds()) and "backend/server" not in kinds()
    assert "info" in kinds(runtime=True)
