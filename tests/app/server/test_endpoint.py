"""From settings to what each listener is to be."""

from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.server.endpoint import KEYS, OF_LISTENERS, Endpoint, endpoint_of_scheme, endpoints
from dataplaneapi.settings.table import Settings, SettingsError, combine, table

TLS = {"tls_certificate": "/c", "tls_key": "/k"}


def given(**changed: Any) -> Settings:
    return Settings(**{"scheme": ["http"], "host": "h"} | changed)


def listed(*entries: dict[str, Any], **api: Any) -> tuple[Endpoint, ...]:
    return endpoints(combine({}, {}, {"dataplaneapi": {"host": "h", "listeners": list(entries), **api}}))


def test_one_of_each_scheme() -> None:
    http, https, unix = endpoints(
        given(scheme=["http", "https", "unix", "http"], port=1, tls_port=2, socket_path="/s", socket_mode="0660", listen_limit=5, **TLS)
    )
    assert (http.socket_address, https.socket_address, unix.socket_address) == (
        ("http", "h", 1, ""),
        ("https", "h", 2, ""),
        ("unix", "", 0, "/s"),
    )
    assert (http.limit, https.limit, unix.limit, unix.mode, http.certificate, https.certificate) == (5, 5, 5, 0o660, "", "/c")
    assert http.basic_auth
    assert https.basic_auth


@pytest.mark.parametrize(
    ("own", "name", "value"),
    [
        ({"tls_host": "t"}, "host", "t"),
        ({"tls_listen_limit": 0}, "limit", 0),
        ({"tls_keep_alive": 0.0}, "keep_alive", False),
        ({"tls_read_timeout": 0.0}, "read_timeout", 0.0),
        ({"tls_write_timeout": 1.5}, "write_timeout", 1.5),
        ({}, "read_timeout", 7.0),
    ],
)
def test_what_https_has_of_its_own(own: dict[str, Any], name: str, value: Any) -> None:
    http, https = endpoints(given(scheme=["http", "https"], read_timeout=7.0, listen_limit=3, port=1, tls_port=2, **TLS, **own))
    assert getattr(https, name) == value
    assert (http.read_timeout, http.limit, http.keep_alive, http.host) == (7.0, 3, True, "h")


@pytest.mark.parametrize(("port", "password"), [(0, True), (8443, False)])
def test_a_client_certificate_stands_for_a_password_on_its_own_listener_alone(port: int, password: bool) -> None:
    http, https = endpoints(given(scheme=["http", "https"], port=1, tls_port=port, tls_ca="/ca", **TLS))
    assert (http.basic_auth, https.basic_auth) == (True, password)


def test_listeners_of_the_list_say_what_differs() -> None:
    first, second, third, fourth = listed(
        {"port": 1},
        {"scheme": "unix", "socket_path": "/s", "socket_mode": 660, "basic_auth": False},
        {"scheme": "https", "port": 2, "tls_ca": "/ca", "tls_client_names": ["spiffe://a/*"], "read_timeout": "1s", **TLS},
        scheme=["http"],
        port=4,
        read_timeout="9s",
    )
    assert (first.socket_address, second.socket_address, third.socket_address, fourth.socket_address) == (
        ("http", "h", 4, ""),
        ("http", "h", 1, ""),
        ("unix", "", 0, "/s"),
        ("https", "h", 2, ""),
    )
    assert (second.read_timeout, third.mode, third.basic_auth) == (9.0, 0o660, False)
    assert (fourth.read_timeout, fourth.basic_auth, fourth.client_names) == (1.0, False, ("spiffe://a/*",))
    (only,) = listed({"port": 1})
    assert only.port == 1


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ({"prot": 1}, r"dataplaneapi.listeners\[0\]: unknown key prot; expected one of scheme, host"),
        ({"scheme": "ftp"}, r"listeners\[0\].scheme 'ftp'"),
        ({"port": "x"}, r"listeners\[0\].port must be a number"),
        ({"read_timeout": "soon"}, r"listeners\[0\].read_timeout: 'soon' is not a duration"),
        ({"basic_auth": "no"}, "basic_auth must be true or false"),
        ({"basic_auth": False}, "basic_auth: false needs tls_ca or a unix socket"),
        ({"scheme": "https"}, "flags `--tls-certificate` and `--tls-key` were not specified"),
        ({"scheme": "https", "tls_key": "/k"}, "flag `--tls-certificate` was not specified"),
        ({"scheme": "https", "tls_client_names": ["a"], **TLS}, "tls_client_names needs tls_ca"),
        ({"scheme": "https", "tls_crl": "/l", **TLS}, "tls_crl needs tls_ca"),
        ({"scheme": "unix", "socket_mode": "rw"}, "socket_mode 'rw' is not an octal mode"),
    ],
)
def test_what_cannot_be_is_refused(entry: dict[str, Any], text: str) -> None:
    with pytest.raises(SettingsError, match=text):
        listed(entry)


def test_what_the_service_manager_hands_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tls.crt", "tls.key"):
        (tmp_path / name).write_text("x")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    (https,) = endpoints(given(scheme=["https"], tls_port=1))
    assert (https.certificate, https.key) == (str(tmp_path / "tls.crt"), str(tmp_path / "tls.key"))
    (own,) = endpoints(given(scheme=["https"], tls_port=1, **TLS))
    assert (own.certificate, own.key) == ("/c", "/k")


def test_two_at_one_place() -> None:
    with pytest.raises(SettingsError, match="two listeners have the same address h:5"):
        listed({"port": 5}, {"port": 5})
    assert len(listed({"port": 0}, {"port": 0})) == 2


@pytest.mark.parametrize(
    ("wanted", "names", "right"),
    [
        ((), "CN=anybody", True),
        (("a",), "CN=a", True),
        (("a",), "CN=ab", False),
        (("spiffe://x/*",), "CN=cn URI=spiffe://x/y", True),
        (("spiffe://x/y",), "URI=spiffe://x/y", True),
        (("spiffe://x/*",), "URI=spiffe://xy", False),
        (("*",), "", False),
        (("a", "spiffe://x/*"), "URI=spiffe://z/y DNS=a", True),
        (("https://x/*",), "URI=https://x/y URI=https://x/z", True),
        # A SPIFFE pattern goes by the only URI, and that has to be a SPIFFE id.
        (("spiffe://x/*",), "CN=spiffe://x/y", False),
        (("spiffe://x/*",), "email=spiffe://x/y DNS=spiffe://x/y", False),
        (("spiffe://x/*",), "URI=spiffe://x/y URI=spiffe://x/z", False),
        (("spiffe://x/*",), "URI=https://x/y URI=spiffe://x/y", False),
        (("spiffe://x/a/*",), "URI=spiffe://x/a/../b", False),
        (("spiffe://x/a/*",), "URI=spiffe://x/a/./b", False),
        (("spiffe://x/a/*",), "URI=spiffe://x/a//b", False),
        (("spiffe://x/a/*",), "URI=spiffe://x/a/%2e%2e/b", False),
        (("spiffe://x/a/*",), "URI=spiffe://x/a/", False),
        (("spiffe://x*",), "URI=spiffe://x:80@y/a", False),
        (("SPIFFE://x/*",), "CN=SPIFFE://x/y", False),
    ],
)
def test_whom_it_allows(wanted: tuple[str, ...], names: str, right: bool) -> None:
    of_kind = [(kind, value) for kind, _, value in (name.partition("=") for name in names.split())]
    assert Endpoint(client_names=wanted).allows(of_kind) is right


def test_of_a_socket_that_another_opened() -> None:
    assert endpoint_of_scheme("unix", given(socket_path="/s")).path == "/s"
    assert endpoint_of_scheme("http", given(port=3)).port == 3


def test_the_settings_it_is_made_of_exist() -> None:
    assert OF_LISTENERS - {name for name, _, _ in table()} == {"basic_auth"}
    assert {key for key in KEYS if key != "basic_auth"} <= {name for name, _, _ in table()}
