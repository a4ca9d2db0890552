"""Which JWTs are good."""

import asyncio
import base64
import hmac
import json
import time
from collections.abc import Iterator
from typing import Any, Self

import pytest

from dataplaneapi.auth.caller import BadToken
from dataplaneapi.auth.jwt import LEEWAY_SECONDS, LONGEST, PAUSE_SECONDS, Issuer, KeySet, values
from dataplaneapi.settings.jwt import JwtSettings
from tests.issuing import AUDIENCE, public, signed

ISSUER = "https://login.example.com"
NAMES = ("rsa1", "ec1", "ed1")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Beside:
    """An issuer with keys in memory."""

    def __init__(self) -> None:
        self.names, self.fetched, self.clock = list(NAMES), 0, Clock()
        self.issuer = Issuer(JwtSettings(ISSUER, AUDIENCE), KeySet(self.fetch, self.clock))

    async def fetch(self) -> Any:
        self.fetched += 1
        return {"keys": [public(name) for name in self.names]}

    def refusal(self, token: str | bytes) -> str:
        try:
            self.runner.run(self.issuer.verify(token if isinstance(token, bytes) else token.encode()))
        except BadToken as error:
            return str(error)
        return ""

    def __enter__(self) -> Self:
        self.runner = asyncio.Runner()
        return self

    def __exit__(self, *_: object) -> None:
        self.runner.run(self.issuer.close())
        self.runner.close()


@pytest.fixture
def beside() -> Iterator[Beside]:
    with Beside() as made:
        yield made


@pytest.mark.parametrize(
    ("key", "algorithm"), [("rsa1", "RS256"), ("rsa1", "RS512"), ("rsa1", "PS384"), ("ec1", "ES256"), ("ed1", "EdDSA")]
)
def test_good_ones(beside: Beside, key: str, algorithm: str) -> None:
    token = signed(ISSUER, key, algorithm)
    assert beside.refusal(token) == ""

    async def known() -> Any:
        return beside.issuer.cached_caller(token.encode())

    caller = beside.runner.run(known())
    assert (caller.name, caller.values) == ("jwt of ann", ("ops",)) and caller.expires > time.time()


NOW = time.time()
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"exp": NOW - LEEWAY_SECONDS - 5}, "has expired"),
    ({"exp": None}, 'missing the "exp" claim'),
    ({"exp": "soon"}, "exp"),
    ({"exp": 1e400}, "invalid JWT"),
    ({"nbf": NOW + 3600}, "not yet valid"),
    ({"iss": "https://other.example.com"}, "issuer"),
    ({"iss": None}, "iss"),
    ({"aud": "other"}, "udience"),
    ({"aud": None}, "aud"),
    ({"aud": ["other", "more"]}, "udience"),
    ({"sub": None}, "no claim sub"),
    ({"sub": "  "}, "no claim sub"),
]


@pytest.mark.parametrize(("claims", "text"), WRONG, ids=[str(number) for number, _ in enumerate(WRONG)])
def test_claims_that_are_wrong(beside: Beside, claims: dict[str, Any], text: str) -> None:
    assert text in beside.refusal(signed(ISSUER, **claims))


def test_several_audiences(beside: Beside) -> None:
    assert beside.refusal(signed(ISSUER, aud=["other", AUDIENCE])) == ""


def test_the_subject_is_the_caller_as_it_is(beside: Beside) -> None:
    """Whatever two subjects differ in, they are two callers, or one of them is refused."""
    names = {}
    odd = ("a\tnn", "a\u00a0nn", "ann\n", "ann\x00", "\u202eann", "x" * 201, "x" * 300)
    for subject in ("ann", " ann", "ann ", "a nn", "a  nn", "x" * 200, *odd):
        token = signed(ISSUER, sub=subject)
        if refused := beside.refusal(token):
            assert "claim sub of the JWT has" in refused, (subject, refused)
        else:
            issuer = Issuer(JwtSettings(ISSUER, AUDIENCE), KeySet(beside.fetch, beside.clock))
            names[subject] = beside.runner.run(issuer.verify(token.encode())).name
    assert names == {subject: f"jwt of {subject}" for subject in ("ann", " ann", "ann ", "a nn", "a  nn", "x" * 200)}


def test_a_verdict_ends(beside: Beside) -> None:
    token, ahead = signed(ISSUER, exp=time.time() + 60).encode(), time.time() + 60 + LEEWAY_SECONDS
    clock = Clock()
    issuer = Issuer(JwtSettings(ISSUER, AUDIENCE), KeySet(beside.fetch, beside.clock), clock)

    async def known(now: float) -> Any:
        clock.now = now
        return issuer.cached_caller(token)

    beside.runner.run(issuer.verify(token))
    assert beside.runner.run(known(ahead - 1))
    assert beside.runner.run(known(ahead + 1)) is None


def forged(header: dict[str, Any], secret: bytes = b"") -> str:
    body = {"iss": ISSUER, "aud": AUDIENCE, "sub": "eve", "exp": NOW + 600}
    signed = ".".join(encoded(json.dumps(each).encode()) for each in (header, body))
    return f"{signed}.{encoded(hmac.digest(secret, signed.encode(), 'sha256')) if secret else ''}"


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def test_forgeries(beside: Beside) -> None:
    """No algorithm, a shared secret that is the public key, another key, another algorithm, a changed body."""
    shared = json.dumps(public("rsa1")).encode()
    assert "is signed by 'none'" in beside.refusal(forged({"alg": "none", "kid": "rsa1"}))
    assert "is signed by 'HS256'" in beside.refusal(forged({"alg": "HS256", "kid": "rsa1"}, shared))
    assert "Signature verification failed" in beside.refusal(signed(ISSUER, "ec2", header={"kid": "ec1"}))
    assert "not allowed" in beside.refusal(signed(ISSUER, "ec1", "ES256", header={"kid": "rsa1"}))
    head, body, signature = signed(ISSUER).split(".")
    other = encoded(base64.urlsafe_b64decode(body + "==").replace(b"ops", b"adm"))
    assert "Signature verification failed" in beside.refusal(f"{head}.{other}.{signature}")


@pytest.mark.parametrize("algorithm", [["none"], ["RS256"], {"RS256": 1}, 5, True, None, ""])
def test_an_algorithm_that_is_no_name_of_one(beside: Beside, algorithm: Any) -> None:
    assert "is signed by" in beside.refusal(forged({"alg": algorithm, "kid": "rsa1"}))


@pytest.mark.parametrize("header", [{"crit": ["b64"], "b64": True}, {"crit": ["exp"]}, {"crit": []}, {"crit": ["x"], "x": 1}])
def test_extensions_that_must_be_understood(beside: Beside, header: dict[str, Any]) -> None:
    """RFC 7515, section 4.1.11."""
    assert beside.refusal(forged({"alg": "RS256", "kid": "rsa1", **header})) in (
        "the JWT has a header crit, and this server supports no extensions",
        "the JWT has no valid header",
    )


@pytest.mark.parametrize("token", [b"..", b"a.b.c", b"\xff.\xff.\xff", b"e30.e30.e30", b"bnVsbA.e30.", b"W10.e30.", b"x" * LONGEST + b".."])
def test_what_is_none(beside: Beside, token: bytes) -> None:
    assert "the JWT" in beside.refusal(token)
    assert beside.fetched == 0, "no key is looked for"


def test_rotation(beside: Beside) -> None:
    """A new key is fetched; what former keys have signed is not good any more, though it was."""
    former = signed(ISSUER, "ec1")
    assert beside.refusal(former) == "" and beside.fetched == 1
    beside.names = ["ec2"]
    new = signed(ISSUER, "ec2")
    assert "no key 'ec2'" in beside.refusal(new) and beside.fetched == 1
    beside.clock.now += PAUSE_SECONDS
    assert beside.refusal(new) == "" and beside.fetched == 2

    async def known() -> list[bool]:
        return [beside.issuer.cached_caller(each.encode()) is not None for each in (former, new)]

    assert beside.runner.run(known()) == [False, True]
    assert "no key 'ec1'" in beside.refusal(former)


@pytest.mark.parametrize(
    ("claims", "name", "expected"),
    [
        ({"groups": ["a", 7, "b"]}, "groups", ("a", "b")),
        ({"groups": "a b"}, "groups", ("a b",)),
        ({"scope": "a b"}, "scope", ("a", "b")),
        ({"realm_access": {"roles": ["a"]}}, "realm_access.roles", ("a",)),
        ({"https://example.com/roles": ["a"]}, "https://example.com/roles", ("a",)),
        ({"realm_access": []}, "realm_access.roles", ()),
        ({"groups": {"a": 1}}, "groups", ()),
        ({}, "groups", ()),
    ],
)
def test_values(claims: dict[str, Any], name: str, expected: tuple[str, ...]) -> None:
    assert values(claims, name) == expected
