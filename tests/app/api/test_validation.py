"""The API's own texts for what is wrong with a body, by the shipped document and models."""

from typing import Any

import pytest

from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.normalize import ResolvedSchemas
from dataplaneapi.api.validation import check_outermost, validated
from haproxy_native.grammar.load import bundle

MODE = "mode in body should be one of [http tcp log]"
NAME = "name in body should match '^[A-Za-z0-9-_.:]+$'"
ALGORITHMS = "first hash hdr leastconn random rdp-cookie roundrobin source static-rr uri url_param"
SCHEMAS = ResolvedSchemas(bundle()["components"]["schemas"])


def reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def refusal(schema: str, body: Any) -> tuple[int, str]:
    with pytest.raises(ApiError) as error:
        validated(body, reference(schema), SCHEMAS)
    return error.value.status, error.value.message


@pytest.mark.parametrize(
    ("schema", "body", "said"),
    [
        ("backend", {}, "name in body is required"),
        ("backend", {"name": ""}, "name in body is required and must not be empty"),
        ("backend", {"name": "a b"}, "name in body should match '^[A-Za-z0-9-_.:]+$'"),
        ("backend", {"name": "be1", "mode": "udp"}, "mode in body should be one of [http tcp log]"),
        ("backend", {"name": "be1", "mode": "HTTP"}, 'mode in body should be one of [http tcp log]; did you mean "http"?'),
        ("backend", {"name": "be1", "server_timeout": -1}, "server_timeout in body should be greater than or equal to 0"),
        ("backend", {"name": "be1", "balance": {}}, "balance.algorithm in body is required"),
        (
            "backend",
            {"name": "b@d", "mode": "udp", "balance": {"algorithm": "best"}},
            f"balance.algorithm in body should be one of [{ALGORITHMS}]\n{MODE}\n{NAME}",
        ),
        ("server", {"name": "s1"}, "address in body is required"),
        ("server", {"name": "s1", "address": "10.0.0.1", "port": 70000}, "port in body should be less than or equal to 65535"),
        ("server", {"name": "s1", "address": "10.0.0.1", "port": 0}, "port in body should be greater than or equal to 1"),
        ("server", {"name": "s1", "address": "10.0.0.1", "check": "yes"}, "check in body should be one of [enabled disabled]"),
        ("http_request_rule", {"type": "deny", "deny_status": 700}, "deny_status in body should be less than or equal to 599"),
        ("acls", [{"acl_name": "a", "criterion": "src"}, {"criterion": "src"}, {"acl_name": "b"}], "1.acl_name in body is required"),
        ("backend", {"name": "b", "servers": {"web1": {"name": "web1"}}}, "servers.web1.address in body is required"),
        ("backend", {"name": "b", "acl_list": [{"criterion": "src"}, {"acl_name": "x"}]}, "acl_list.0.acl_name in body is required"),
        (
            "server",
            {"name": "s1", "address": "10.0.0.1", "health_check": "enabled"},
            'health_check in body is not known; did you mean "check"?',
        ),
        ("backend", {"name": "b", "health_check": {"type": "http"}}, 'health_check in body is not known; did you mean "adv_check"?'),
        ("backend", {"name": "b", "httpchk": {"uri": "/"}}, 'httpchk in body is not known; did you mean "httpchk_params"?'),
        ("backend", {"name": "b", "adv-check": "httpchk"}, 'adv-check in body is not known; did you mean "adv_check"?'),
        ("backend", {"name": "b", "description": "a\nb"}, "description in body must not contain a line break"),
    ],
)
def test_violations(schema: str, body: Any, said: str) -> None:
    assert refusal(schema, body) == (422, said)


def test_a_misnamed_member_is_named_behind_the_standard_text() -> None:
    status, said = refusal("server", {"name": "s1", "adress": "10.0.0.1"})
    assert status == 422
    assert said == 'address in body is required (there is "adress", which is not known; did you mean "address"?)'
    assert refusal("backend", {"name": "b", "servers": {"s": {"name": "s", "addr": "x"}}})[1].endswith('did you mean "address"?)')


def test_wrong_types_come_first() -> None:
    assert refusal("backend", {"name": 7, "mode": "udp"}) == (
        400,
        "failed to decode request body: name in body must be a string, not a number",
    )


def test_what_is_fine() -> None:
    body = {"name": "s1", "address": "127.0.0.1", "port": 80, "check": None, "weight": None, "index": 0, "metadata": {"a": [1]}}
    assert validated(body, reference("server"), SCHEMAS) == {
        "name": "s1",
        "address": "127.0.0.1",
        "port": 80,
        "metadata": {"a": [1]},
    }
    assert validated([], reference("acls"), SCHEMAS) == []


@pytest.mark.parametrize(
    ("schema", "body", "said"),
    [
        ("backend", [], "value must be an object"),
        ("backend", "text", "value must be an object"),
        ("acls", {}, "value must be an array"),
        ("backend", None, "Value is not nullable"),
    ],
)
def test_the_outermost_type(schema: str, body: Any, said: str) -> None:
    with pytest.raises(ApiError, match=said) as error:
        check_outermost(body, reference(schema), SCHEMAS)
    assert error.value.status == 422


NAMELESS = {
    "type": "object",
    "required": ["key"],
    "properties": {"key": {"type": "string", "pattern": "^[^;]+$"}, "count": {"type": "integer", "nullable": True}},
}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, 'Error at "/key": property "key" is missing'),
        ({"key": "a;b"}, 'Error at "/key": string doesn\'t match the regular expression "^[^;]+$"'),
        ({"key": "a", "count": "1"}, "failed to decode request body: count in body must be an integer, not a string"),
    ],
)
def test_an_object_without_a_name_is_checked_as_a_whole(body: Any, said: str) -> None:
    with pytest.raises(ApiError) as error:
        validated(body, NAMELESS, SCHEMAS)
    assert (error.value.status, error.value.message) == (422, said)
    assert validated({"KEY": "a", "count": 0, "more": 1}, NAMELESS, SCHEMAS) == {"key": "a", "count": 0}


def test_a_name_that_is_no_utf_8_is_found_in_what_stands_there() -> None:
    """Pydantic shows bytes that are no UTF-8 as U+FFFD, in the place of an error, too."""
    server = {"name": "\udce9", "address": "10.0.0.1", "cookie": "\udcff"}
    stored = {"name": "b", "servers": {"\udce9": server}}
    assert validated(stored, reference("backend"), SCHEMAS, present=lambda: stored) == stored
    changed = {"name": "b", "servers": {"\udce9": {**server, "cookie": "\udcfe"}}}
    with pytest.raises(ApiError, match="cookie in body"):
        validated(changed, reference("backend"), SCHEMAS, present=lambda: stored)


def test_every_element_of_a_large_section_is_validated() -> None:
    servers = {f"s{i}": {"name": f"s{i}", "address": "::1", "port": 1} for i in range(100)}
    servers["s90"] |= {"port": 70_000}
    servers["s95"] |= {"port": 80_000}
    with pytest.raises(ApiError) as error:
        validated({"name": "big", "servers": servers}, {"$ref": "#/components/schemas/backend"}, SCHEMAS)
    assert (error.value.status, str(error.value)) == (422, "servers.s90.port in body should be less than or equal to 65535")


@pytest.mark.parametrize(
    ("schema", "body", "first"),
    [
        ("http_request_rule", {"type": "dney"}, 'type in body is "dney", which is none of its '),
        ("backend", {"name": "b", "mode": "htpp"}, 'mode in body should be one of [http tcp log]; did you mean "http"?'),
        (
            "server",
            {"name": "s", "address": "a", "check": True},
            "failed to decode request body: check in body must be a string (enabled or",
        ),
        (
            "server",
            {"name": "s", "address": "a", "inter": "5s"},
            "failed to decode request body: inter in body must be an integer of millisec",
        ),
        (
            "server",
            {"name": "s", "address": "a", "weight": "5"},
            "failed to decode request body: weight in body must be an integer, not a s",
        ),
        ("stick_table", {"size": "1m"}, "failed to decode request body: size in body must be an integer"),
    ],
)
def test_the_first_line_says_what_would_do(schema: str, body: Any, first: str) -> None:
    with pytest.raises(ApiError) as error:
        validated(body, reference(schema), SCHEMAS)
    line = error.value.message.splitlines()[0]
    assert line.startswith(first)
    assert len(line) <= 300


def test_a_long_list_of_words_comes_after_the_one_that_was_meant() -> None:
    with pytest.raises(ApiError) as error:
        validated({"type": "dney"}, reference("http_request_rule"), SCHEMAS)
    first, second, *_ = error.value.message.splitlines()
    assert first.endswith('; did you mean "deny"?')
    assert second.startswith("type in body should be one of [")


def test_many_wrong_types_stand_on_lines_of_their_own() -> None:
    with pytest.raises(ApiError) as error:
        validated(
            {"name": 1, "address": 2, **dict.fromkeys(("inter", "weight", "port", "rise", "fall", "maxconn"), "x")},
            reference("server"),
            SCHEMAS,
        )
    assert all(len(line) <= 300 for line in error.value.message.splitlines())
