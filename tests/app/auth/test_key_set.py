"""Keys of an issuer: which are used, and when they are fetched."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from dataplaneapi.auth import jwt
from dataplaneapi.auth.jwt import FRESH_SECONDS, PAUSE_SECONDS, KeySet, KeysFailed, fetch, usable
from dataplaneapi.settings.jwt import JwtSettings
from tests.issuing import AUDIENCE, Issuing, public


class Source:
    """A clock, and documents that are fetched."""

    def __init__(self, *names: str) -> None:
        self.now, self.fetched = 1000.0, 0
        self.document: Any = {"keys": [public(name) for name in names]}

    def clock(self) -> float:
        return self.now

    async def fetch(self) -> Any:
        self.fetched += 1
        if self.document is None:
            raise KeysFailed("it is away")
        return self.document


async def happened(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0)


def beside(source: Source, test: Callable[[KeySet], Any]) -> None:
    async def run() -> None:
        keys = KeySet(source.fetch, source.clock)
        await test(keys)
        await keys.close()

    asyncio.run(run())


def test_an_unknown_key_is_fetched_but_not_again_and_again() -> None:
    source = Source("ec1")

    async def test(keys: KeySet) -> None:
        assert keys.get("ec1") is None
        found = await asyncio.gather(*(keys.fetch_missing("ec1") for _ in range(10)))
        assert all(found) and source.fetched == 1
        source.document = {"keys": [public("ec2")]}
        assert await keys.fetch_missing("ec2") is None and source.fetched == 1
        source.now += PAUSE_SECONDS
        generation = keys.generation
        assert await keys.fetch_missing("ec2") and keys.get("ec1") is None and keys.generation != generation

    beside(source, test)


def test_keys_stay_while_the_issuer_is_away() -> None:
    source = Source("ec1")

    async def test(keys: KeySet) -> None:
        assert await keys.fetch_missing("ec1")
        source.document = None
        source.now += FRESH_SECONDS + 1
        keys.fetch_if_old()
        await happened(lambda: source.fetched == 2 and bool(keys.fetch_error))
        assert keys.get("ec1") and keys.fetch_error == "it is away" and await keys.fetch_missing("ec2") is None
        keys.fetch_if_old()
        assert source.fetched == 2
        source.now += PAUSE_SECONDS
        source.document = {"keys": [public("ec2")]}
        keys.fetch_if_old()
        await happened(lambda: keys.get("ec2") is not None)
        assert keys.get("ec1") is None and not keys.fetch_error

    beside(source, test)


def test_a_fetch_that_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jwt, "FETCH_SECONDS", 0.01)

    async def never() -> Any:
        await asyncio.Event().wait()

    async def run() -> None:
        keys = KeySet(never)
        assert await keys.fetch_missing("ec1") is None and "no answer within" in keys.fetch_error
        await keys.close()

    asyncio.run(run())


def test_which_keys_are_used() -> None:
    rows = [public("rsa1"), public("rsa2", alg="PS256"), public("ec1"), public("ed1")]
    others = [public("ec2", use="enc"), {"kty": "oct", "k": "c2VjcmV0", "kid": "shared", "alg": "HS256"}, {"kty": "RSA", "kid": "none"}, 7]
    weak = RSAAlgorithm.to_jwk(rsa.generate_private_key(65537, 1024).public_key(), as_dict=True)
    keys = usable({"keys": [*rows, *others, weak]})
    algorithms = {name: key.algorithms for name, key in keys.items()}
    assert algorithms == {"rsa1": jwt.ALGORITHMS["RSA"], "rsa2": ("PS256",), "ec1": ("ES256",), "ed1": ("EdDSA",)}


@pytest.mark.parametrize(
    "bad",
    [
        {"kty": "RSA", "alg": "none", "n": "AQAB", "e": "AQAB"},
        {"kty": "EC", "alg": "none"},
        {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"},
        {"kty": "EC", "crv": ["P-256"], "x": 1, "y": {}},
        {"kty": "OKP", "crv": "Ed25519", "x": "!"},
        {"kty": "RSA", "alg": ["RS256"]},
        {"kty": "RSA", "alg": "RS256", "n": "", "e": ""},
        {"kty": "RSA", "alg": "HS256", "k": "c2VjcmV0"},
        public("rsa1", alg="none"),
    ],
)
def test_a_key_that_cannot_be_used_is_skipped(bad: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    assert set(usable({"keys": [{**bad, "kid": "bad"}, public("ec1")]})) == {"ec1"}
    assert "skipping key 'bad' of the JWT issuer" in caplog.text


@pytest.mark.parametrize("document", [None, [], {}, {"keys": "x"}, {"keys": []}, {"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}])
def test_documents_without_keys(document: Any) -> None:
    with pytest.raises(KeysFailed):
        usable(document)


def test_where_they_are() -> None:
    with Issuing("ec1") as issuing:
        for more in ({}, {"jwks": f"{issuing.url}/keys"}):
            assert asyncio.run(fetch(JwtSettings(issuing.url, AUDIENCE, **more))) == {"keys": issuing.keys}
        assert issuing.asked == ["/.well-known/openid-configuration", "/keys", "/keys"]
        for wrong, text in (
            ({"issuer": f"{issuing.url}/"}, "names another issuer"),
            ({"jwks": f"{issuing.url}/no"}, "answers with status 503"),
        ):
            with pytest.raises(KeysFailed, match=text):
                asyncio.run(fetch(JwtSettings(**{"issuer": issuing.url, "audience": AUDIENCE} | wrong)))
    with pytest.raises(KeysFailed, match="ConnectError"):
        asyncio.run(fetch(JwtSettings(issuing.url, AUDIENCE)))
