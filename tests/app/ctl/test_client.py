"""The client: unix sockets, TLS, refusals, connections that break."""

import select
import socket
import threading
from pathlib import Path

import pytest

from dataplaneapi.ctl import contexts
from dataplaneapi.ctl.client import Client
from dataplaneapi.ctl.failures import Failure, RefusedCall
from tests.acceptance.quick import Quick
from tests.app.authority import Authority
from tests.app.ctl.calls import config
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import CONFIGURATION, USER
from tests.receiver import Handler, Receiver

MEMBERS = {"user": USER[0], "password": USER[1]}


def client(**members: str) -> Client:
    return Client(contexts.Context("", MEMBERS | members), timeout=60)


def test_a_refusal_has_status_body_and_message(sidecar: Quick) -> None:
    made = client(url=f"http://127.0.0.1:{sidecar.port}/v3/")
    with pytest.raises(RefusedCall, match=r"^404 missing object: Backend x does not exist \(GET /v3/") as refused:
        made.get("/v3/services/haproxy/configuration/backends/x")
    assert isinstance(refused.value.body, dict) and (refused.value.code, refused.value.body["code"]) == (404, 404)
    assert made.get("/v3/services/haproxy/configuration/version") == sidecar.version()
    made.close()


def test_a_unix_socket_and_tls_with_a_client_certificate(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "authority")
    (server, key), (ours, own_key) = authority.issue("localhost"), authority.issue("ctl")
    port, path = free_port(), tmp_path / "api.sock"
    tls = {"tls_host": "127.0.0.1", "tls_port": port, "tls_certificate": str(server), "tls_key": str(key), "tls_ca": str(authority.file)}
    (tmp_path / "haproxy").mkdir()
    settings = {"scheme": ["https", "unix"], "socket_path": str(path), "tls": tls}
    with HAProxy(tmp_path / "haproxy", config()) as haproxy, _Served(haproxy, path, settings):
        over_socket = client(socket=str(path))
        assert over_socket.get("/v3/services/haproxy/configuration/version") == 1
        over_socket.close()
        url = f"https://localhost:{port}"
        own_key.chmod(0o600)
        secure = client(url=url, ca=str(authority.file), certificate=str(ours), key=str(own_key))
        assert secure.get("/v3/services/haproxy/configuration/version") == 1
        secure.close()
        with pytest.raises(Failure, match="certificate verify failed") as failure:
            client(url=url).get("/v3/info")
        assert failure.value.status == 4
        own_key.chmod(0o644)
        with pytest.raises(Failure, match="contains a secret"):
            client(url=url, ca=str(authority.file), certificate=str(ours), key=str(own_key)).get("/v3/info")


class _Served(Quick):
    """On a unix socket and TLS alone."""

    def __init__(self, haproxy: HAProxy, path: Path, settings: dict[str, object]) -> None:
        super().__init__(haproxy, dataplaneapi=settings)
        self._path = path

    def _answers(self) -> bool:
        made = client(socket=str(self._path))
        try:
            return made.send("GET", "/v3/info").status == 200
        except Failure:
            return False
        finally:
            made.close()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_a_failure_and_not_followed(status: int) -> None:
    """It would carry credentials to another host."""
    with Receiver() as elsewhere, Receiver(otherwise=lambda handler: handler.say(status, Location=elsewhere.url)) as redirecting:
        made = client(url=f"http://127.0.0.1:{redirecting.port}")
        with pytest.raises(RefusedCall, match=f"{status} the address redirects to {elsewhere.url}"):
            made.request("POST", "/v3/services/haproxy/configuration/backends", body={"name": "b"})
        with pytest.raises(RefusedCall, match=f"{status} the address redirects to"):
            list(made.lines("/v3/sidecar/events"))
        made.close()
        assert not elsewhere.requests


def test_a_server_that_hangs_up_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up() -> None:
            connection = server.accept()[0]
            connection.recv(1000)
            connection.close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        with pytest.raises(Failure, match="does not answer: .*; does it use TLS, so that its address is https://") as failure:
            client(url=f"http://127.0.0.1:{server.getsockname()[1]}").get("/v3/info")
        thread.join()
    assert failure.value.status == 4


def test_a_server_without_tls(sidecar: Quick) -> None:
    with pytest.raises(Failure, match="does not answer: .*; does it use TLS, or is its address http://") as failure:
        client(url=f"https://127.0.0.1:{sidecar.port}").get("/v3/info")
    assert failure.value.status == 4


def test_a_call_after_the_server_has_closed_the_connection_uses_a_new_one() -> None:
    def answer_and_close(handler: Handler) -> None:
        # Without the header `Connection: close`, like a server whose timeout has passed.
        handler.say(200, b"1")
        handler.close_connection = True

    with Receiver(otherwise=answer_and_close) as server:
        made = client(url=f"http://127.0.0.1:{server.port}")
        for method, body in (("GET", None), ("POST", {"name": "added"}), ("GET", None)):
            assert made.send(method, "/v3/info", body=body).status == 200
            assert made._connection is not None
            assert select.select([made._connection.sock], [], [], 60)[0], "the server does not close the connection"
        made.close()
    assert len(server.requests) == 3


NO_ADDRESSES = [
    *(
        "lb1:5555",
        "ftp://lb1",
        "http://user:secret@lb1:1",
        "http://lb1:port",
        "http://lb1:99999",
        "http://lb1:0",
        "http://[::1/x",
        "http://",
    ),
    *("http://[::g]:1", "http://[lb1]", f"http://{'a' * 64}.example", "http://lb1/ä", "http://lb\u2100", "//[", "["),
    *("http://user:secret@[::1", "http://a..b", "http://lb1/a b", "http://lb1/\x7f"),
]


@pytest.mark.parametrize("url", NO_ADDRESSES)
def test_what_is_no_address(url: str) -> None:
    """One line of what is wrong with it, and no password."""
    with pytest.raises(Failure, match="url must be http") as error:
        client(url=url).get("/v3/info")
    assert "\n" not in str(error.value) and "secret" not in str(error.value)


def test_a_message_of_any_letters_is_sent_and_one_of_two_lines_is_not(sidecar: Quick) -> None:
    made = client(url=f"http://127.0.0.1:{sidecar.port}")
    server = sidecar.get("backends/shop/servers/web1").json()
    path = f"{CONFIGURATION}/backends/shop/servers/web1"
    query = {"version": sidecar.version()}
    assert made.request("PUT", path, query, server | {"weight": 61}, X_Change_Message="größer, €").status == 200
    assert sidecar.get("/v3/sidecar/history", limit=1).json()[0]["message"] == "größer, €"
    with pytest.raises(Failure, match="X-Change-Message must be one line"):
        made.request("PUT", path, query, server, X_Change_Message="a\nHost: b")
    made.close()
