"""The issuer in the settings."""

from importlib.metadata import PackageNotFoundError
from typing import Any

import pytest

from dataplaneapi.settings import jwt
from dataplaneapi.settings.jwt import JwtSettings, read_jwt
from dataplaneapi.settings.table import SettingsError, combine

GIVEN = {"issuer": "https://login.example.com/realms/ops", "audience": "dataplane"}
ROLE_OF = {"claims": {"ops": "admin"}}


def test_what_is_left_out() -> None:
    assert read_jwt({}, {}) is None
    assert read_jwt(GIVEN, ROLE_OF) == JwtSettings("https://login.example.com/realms/ops", "dataplane", claim="groups", name="sub")
    whole = GIVEN | {"jwks": "http://[::1]:8/keys", "claim": "realm_access.roles", "name": "email", "ca_file": "/ca.pem"}
    assert read_jwt(whole, ROLE_OF) == JwtSettings(**whole)


@pytest.mark.parametrize(
    ("members", "text"),
    [
        ({"issuer": None}, "issuer must be a text"),
        ({"audience": ""}, "audience must be a text"),
        ({"audience": ["a"]}, "audience must be a text"),
        ({"keys": "x"}, "unknown key 'keys'"),
        ({"issuer": "http://login.example.com"}, "http is allowed only for this machine"),
        ({"issuer": "login.example.com"}, "issuer must be a URL such as"),
        ({"issuer": "https://user:secret@login.example.com"}, "without a user"),
        ({"jwks": "http://10.0.0.1/keys"}, "jwks must be a URL such as"),
        ({"issuer": "https://login.example.com:https"}, "issuer is not a URL"),
        ({"jwks": "https://login.example.com:99999"}, "jwks is not a URL"),
        ({"jwks": "https://[::1/keys"}, "jwks is not a URL"),
        ({"jwks": "file:///etc/keys"}, "jwks must be a URL such as"),
    ],
)
def test_what_is_wrong(members: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        read_jwt(GIVEN | members, ROLE_OF)


def test_what_lacks() -> None:
    for name in GIVEN:
        with pytest.raises(ValueError, match=f"{name} is missing"):
            read_jwt({each: value for each, value in GIVEN.items() if each != name}, ROLE_OF)
    for given, role_of in ((GIVEN, {}), ({}, ROLE_OF)):
        with pytest.raises(ValueError, match="the settings lack"):
            read_jwt(given, role_of)


@pytest.mark.parametrize("installed", ["2.6.0", "1.7.1", None])
def test_without_its_library(installed: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        if installed is None:
            raise PackageNotFoundError(name)
        return installed

    monkeypatch.setattr(jwt, "version", version)
    with pytest.raises(ValueError, match="this needs PyJWT 2.10 or newer.*(pip|apt-get) install "):
        read_jwt(GIVEN, ROLE_OF)


def test_of_the_file() -> None:
    given = {"dataplaneapi": {"jwt": GIVEN, "role_of": ROLE_OF}}
    assert combine({}, {}, given).jwt == GIVEN
    with pytest.raises(SettingsError, match="dataplaneapi.jwt: the settings lack jwt"):
        combine({}, {}, {"dataplaneapi": {"role_of": ROLE_OF}})
