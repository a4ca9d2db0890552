"""What nothing reads is named, refused where that is wanted, and always where a write would happen that was not meant."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.api.operations import operations
from haproxy_native.grammar.load import bundle
from tests.app.client import CONFIG, Client, serving

RAW = f"{CONFIG}/raw"
SERVER = {"name": "s1", "address": "127.0.0.1", "port": 80}
TRANSACTIONS = "/v3/services/haproxy/transactions"
MEMBERS, PARAMETERS = "X-Ignored-Members", "X-Ignored-Parameters"


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[Client]:
    with serving(tmp_path, strict=True) as client:
        yield client


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (SERVER, None),
        (SERVER | {"wieght": 3}, "wieght (weight?)"),
        (SERVER | {"colour": "red", "wieght": 3}, "colour, wieght (weight?)"),
        (SERVER | {"zürich, (x": None}, "z%C3%BCrich%2C%20%28x"),
        (SERVER | {"WEIGHT": 3}, None),
    ],
)
def test_unknown_members_are_named(client: Client, body: dict[str, Any], named: str | None) -> None:
    got = client.post(f"{CONFIG}/backends/app/servers?version=1", body)
    assert (got.status, got.headers.get(MEMBERS)) == (202, named)


def test_one_inside_another_is_named_with_its_place(client: Client) -> None:
    body = {
        "name": "b2",
        "mode": "http",
        "balance": {"algoritm": "x", "algorithm": "source"},
        "servers": {"s1": SERVER | {"chek": "enabled"}},
    }
    got = client.post(f"{CONFIG}/backends?version=1&full_section=true", body)
    assert (got.status, got.headers[MEMBERS]) == (202, "balance.algoritm (algorithm?), servers.s1.chek (check?)")


def test_what_only_a_whole_section_takes_is_named(client: Client) -> None:
    body = {"name": "b2", "servers": {"s1": SERVER}}
    assert client.post(f"{CONFIG}/backends?version=1", body).headers[MEMBERS] == "servers (full_section=true?)"
    refused = client.post(f"{CONFIG}/backends?version=2&strict=true", body | {"name": "b3"})
    assert (refused.status, refused.message) == (422, "servers in body is read with full_section=true only")


def test_only_a_few_of_many_are_named(client: Client) -> None:
    names = {f"n{number:03}" + "x" * 500: 1 for number in range(500)}
    header = client.post(f"{CONFIG}/backends/app/servers?version=1", SERVER | names).headers[MEMBERS]
    assert header.endswith("and 490 more")
    assert len(header) < 1000


def test_unknown_parameters_are_named_by_reads_also_when_they_are_asked_again(client: Client) -> None:
    for _ in range(2):
        got = client.get(f"{CONFIG}/backends?ful_section=true")
        assert (got.status, got.headers[PARAMETERS]) == (200, "ful_section (full_section?)")
    assert PARAMETERS not in client.get(f"{CONFIG}/backends?full_section=true").headers


def test_an_error_names_them_as_well(client: Client) -> None:
    got = client.post(f"{CONFIG}/backends?vers=1", {"name": "b2"})
    assert (got.status, got.headers[PARAMETERS]) == (400, "vers (version?)")


def test_a_call_may_refuse_them(client: Client) -> None:
    refused = client.post(f"{CONFIG}/backends/app/servers?version=1&strict=true", SERVER | {"wieght": 3, "colour": 1})
    assert (refused.status, refused.message.splitlines()) == (
        422,
        ["colour in body is not known", 'wieght in body is not known; did you mean "weight"?'],
    )
    refused = client.post(f"{CONFIG}/backends/app/servers?version=1&strict=true&colour=red", SERVER)
    assert (refused.status, refused.message) == (422, "colour in query is not known")
    assert client.post(f"{CONFIG}/backends/app/servers?version=1&strict=true", SERVER).status == 202


def test_it_holds_for_the_call_in_a_transaction(client: Client) -> None:
    within = f"transaction_id={client.post(f'{TRANSACTIONS}?version=1').json['id']}"
    assert client.post(f"{CONFIG}/backends/app/servers?{within}&strict=true", SERVER | {"wieght": 3}).status == 422
    assert client.post(f"{CONFIG}/backends/app/servers?{within}", SERVER | {"wieght": 3}).status == 202


def test_the_setting_refuses_them_unless_the_call_says_otherwise(strict: Client) -> None:
    servers = f"{CONFIG}/backends/app/servers"
    assert strict.get(f"{servers}?colour=red").status == 422
    assert strict.post(f"{servers}?version=1", SERVER | {"wieght": 3}).status == 422
    assert strict.post(f"{servers}?version=1&strict=false", SERVER | {"wieght": 3}).headers[MEMBERS] == "wieght (weight?)"


@pytest.mark.parametrize(
    ("method", "target", "meant"),
    [
        ("POST", f"{RAW}?version=1&only_validat=true", 'did you mean "only_validate"?'),
        ("POST", f"{RAW}?version=1&onlyvalidate=true", 'did you mean "only_validate"?'),
        ("POST", f"{RAW}?version=1&dry_run=true", 'did you mean "only_validate"?'),
        ("POST", f"{RAW}?version=1&skip_relod=true", 'did you mean "skip_reload"?'),
        ("POST", f"{RAW}?verison=1", 'did you mean "version"?'),
        ("DELETE", f"{CONFIG}/backends/app?version=1&transactionid=x", 'did you mean "transaction_id"?'),
        ("DELETE", f"{CONFIG}/backends/app?version=1&stirct=true", 'did you mean "strict"?'),
        ("DELETE", f"{CONFIG}/backends/app?version=1&only_validate=true", "POST /v3/sidecar/plan"),
    ],
)
def test_a_misspelt_guard_is_refused(shared_client: Client, method: str, target: str, meant: str) -> None:
    before = shared_client.file.read_bytes()
    body = b"global\n" if method == "POST" else None
    got = shared_client(method, target, body, headers={"Content-Type": "text/plain"})
    assert (got.status, meant in got.message) == (400, True), got.message
    assert shared_client.file.read_bytes() == before


@pytest.mark.parametrize("option", ["confirm=5m", "guard=%7B%7D", "tests=require"])
@pytest.mark.parametrize("path", ["fleet/releases", "fleet/releases/1/stop", "access/check"])
def test_an_operation_that_changes_nothing_refuses_the_options_of_a_change(shared_client: Client, path: str, option: str) -> None:
    got = shared_client.post(f"/v3/sidecar/{path}?{option}", {"method": "GET", "path": "/v3/info"})
    name = option.partition("=")[0]
    assert (got.status, got.message) == (
        400,
        f"{name} in query is not known; this operation has no such parameter. Nothing has been changed.",
    )


def test_a_known_guard_that_an_operation_lacks_is_named_only(client: Client) -> None:
    """Clients send one set of parameters with all calls."""
    got = client("POST", f"{RAW}?version=1&transaction_id=x", b"global\n", headers={"Content-Type": "text/plain"})
    assert (got.status < 300, got.headers[PARAMETERS]) == (True, "transaction_id")


def test_no_parameter_of_any_operation_resembles_a_guard() -> None:
    """Of what an operation declares nothing is mistaken: it is known there. Elsewhere it must not be refused."""
    from dataplaneapi.api.ignored import NEAR
    from dataplaneapi.did_you_mean import distance

    every = tuple(operations(bundle()))
    names = {each.name for operation in every for each in operation.parameters if each.location == "query"}
    for spellings in {tuple(each) for operation in every for each in operation.guards.values()}:
        for name in names - set(spellings):
            assert all(distance(name, each, NEAR) > NEAR for each in spellings), (name, spellings)
