"""What is taken for a secret, and what is not."""

import base64
import re

import pytest

from haproxy_native.storage import secret_files
from haproxy_native.storage.secret_files import _PIECE, is_secret
from tests.tls.pems import authority, made


@pytest.mark.parametrize(
    "data",
    [
        made("x").private.encode(),
        made("x").pem.encode(),
        b"\xef\xbb\xbf  -----begin private key-----",
        b'{"kty": "oct"}',
        b"[Interface]\nPrivateKey = x\n",
        base64.b64encode(bytes(48)),
        base64.b64encode(bytes(80)) + b"\r\n" + base64.b64encode(bytes(80)),
        b"\x30\x82\x01\x00",
        "text".encode("utf-16"),
        b"# keys\n" + base64.b64encode(bytes(48)) + b"\n",
        made("x").private.replace("PRIVATE KEY", "KEY").encode().partition(b"\n")[2].rpartition(b"-----END")[0],
        base64.b64encode(made("x").private.encode()),
        base64.encodebytes(b"\x30\x82\x04\x00" + bytes(1024)),
        (b"\x30\x82\x04\x00" + bytes(1024)).hex().encode(),
        base64.urlsafe_b64encode(b"\x30\x82\xfb\xff" + bytes(1023)).rstrip(b"="),
    ],
)
def test_secrets(data: bytes) -> None:
    assert is_secret(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"/etc/haproxy/ssl/a.pem [alpn h2] example.com\n",
        b"a.pem\nb.pem\n",
        b"site" * 40 + b"\n",
        b"30820400" * 10 + b" example.com.pem\n",
        b"# nothing but a comment, and a long one: it has more letters than the shortest key\n",
        b"key value\n\tindented\r\n",
        "größe 1\n".encode(),
        b"\xff latin\n",
        authority().cert.encode(),
        base64.b64encode(bytes(48)) + b" value\n",
        b"HTTP/1.0 503 Service Unavailable\r\n\r\n<html>\f</html>",
    ],
)
def test_what_is_none(data: bytes) -> None:
    assert not is_secret(data)


def test_a_large_file_is_searched_in_pieces() -> None:
    """Also where two of them meet."""
    text, name = b"key value\n" * 20_000, b"PRIVATE KEY"
    assert not is_secret(text)
    assert all(is_secret(text[: _PIECE - cut] + name + text) for cut in range(len(name) + 1))


class Recording:
    """A pattern that notes how much text each of its searches is given."""

    def __init__(self, pattern: re.Pattern[bytes]) -> None:
        self._pattern = pattern
        self.sizes: list[int] = []

    def search(self, data: bytes, start: int, end: int) -> re.Match[bytes] | None:
        self.sizes.append(min(end, len(data)) - start)
        return self._pattern.search(data, start, end)


def test_no_other_thread_waits_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """No search, during which no other thread runs, is given more than a piece."""
    data = b"key value\n" * 300_000
    for name in ("_BINARY", "_NAMED"):
        recording = Recording(getattr(secret_files, name))
        monkeypatch.setattr(secret_files, name, recording)
        assert not is_secret(data)
        assert sum(recording.sizes) >= len(data) and max(recording.sizes) < 2 * _PIECE
