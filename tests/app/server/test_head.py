"""What a request's head must be."""

import pytest

from dataplaneapi.server.endpoint import Endpoint
from dataplaneapi.server.head import LONGEST_URL, HalfHeads, RequestRefused, check

HOST = (b"host", b"x")


def refusal(*headers: tuple[bytes, bytes], version: str = "1.1", method: bytes = b"GET", url: bytes = b"/", size: int = 9) -> int:
    try:
        check(Endpoint(max_header_size=1000), version, method, url, headers, size)
    except RequestRefused as error:
        return error.status
    return 0


@pytest.mark.parametrize("host", [b"", b"x", b"api.example.org:5555", b"[::1]:80", b"192.0.2.1", b"a_b%41", b"xn--bcher-kva.example"])
def test_hosts_that_are_fine(host: bytes) -> None:
    assert refusal((b"host", host)) == 0


@pytest.mark.parametrize("host", [b"a b", b"a/b", b"user@a", b"a,b@c", b"a?b", b"a#b", b"\xc3\xa4"])
def test_hosts_that_are_none(host: bytes) -> None:
    assert refusal((b"host", host)) == 400


def test_hosts_are_counted() -> None:
    assert refusal() == 400
    assert refusal(version="1.0") == 0
    assert refusal(HOST, HOST) == refusal(HOST, HOST, version="1.0") == 400


@pytest.mark.parametrize(
    ("codings", "status"), [([b"chunked"], 0), ([b"Chunked "], 0), ([b"gzip"], 400), ([b"chunked", b"chunked"], 400), ([b""], 400)]
)
def test_transfer_codings(codings: list[bytes], status: int) -> None:
    assert refusal(HOST, *((b"transfer-encoding", each) for each in codings)) == status


def test_sizes() -> None:
    assert refusal(HOST, (b"x", b"a" * 985), size=5000) == 0
    assert refusal(HOST, (b"x", b"a" * 990), size=5000) == 431
    assert refusal(HOST, url=b"/" * (LONGEST_URL + 1)) == 414


def test_half_heads_give_back_what_they_held() -> None:
    together = HalfHeads(100)
    together.add(60)
    with pytest.raises(RequestRefused) as refused:
        together.add(60)
    assert refused.value.status == 503
    together.add(-60)
    together.add(40)
    assert together.size == 100
