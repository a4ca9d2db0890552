"""etcd over its JSON gateway."""

from collections.abc import Iterator

import pytest

from dataplaneapi.ctl.etcd import Etcd
from dataplaneapi.ctl.failures import Failure
from demo.children import start, stop
from tests.haproxy.binaries import program
from tests.haproxy.process import free_port
from tests.until import until


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory, own, peer = tmp_path_factory.mktemp("etcd"), *(f"http://127.0.0.1:{free_port()}" for _ in range(2))
    words = [program("etcd"), "--data-dir", str(directory / "data"), "--listen-client-urls", own, "--advertise-client-urls", own]
    words += ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"]
    process = start(words, directory / "log")
    until(lambda: _answers(own))
    yield own
    stop(process, 20)


def _answers(url: str) -> bool:
    try:
        Etcd(url).get("any")
    except Failure:
        return False
    return True


def test_what_is_no_endpoint() -> None:
    with pytest.raises(Failure, match="etcd must be http://HOST/PATH .* not 'http://\\[::1'"):
        Etcd("[::1").get("key")


def test_values_and_their_revisions(url: str) -> None:
    etcd = Etcd(f"http://127.0.0.1:{free_port()},{url}")
    value, changed, revision = etcd.get("absent")
    assert (value, changed) == (None, 0)
    etcd.put("key", "é\n")
    assert etcd.get("key") == ("é\n".encode(), revision + 1, revision + 1)
    assert etcd.endpoints[0] == url, "the one that has answered is asked first"


def test_a_watch_sees_what_came_before_it_began(url: str) -> None:
    etcd = Etcd(url)
    _, _, revision = etcd.get("watched")
    etcd.put("watched", "1")
    assert next(etcd.changes("watched", revision + 1, 10)) is None
    etcd.put("other", "1")
    _, _, revision = etcd.get("watched")
    assert list(etcd.changes("watched", revision + 1, 0.3)) == []


def test_a_watch_from_a_revision_that_is_compacted_away_is_a_change(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    etcd = Etcd(url)
    for text in "abc":
        etcd.put("compacted", text)
    _, _, revision = etcd.get("compacted")
    etcd._call("/v3/kv/compaction", {"revision": str(revision)})
    assert next(etcd.changes("compacted", 1, 10)) is None


def test_one_that_is_away_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Failure, match="does not answer") as failure:
        Etcd(f"127.0.0.1:{free_port()}").get("key")
    assert failure.value.status == 4
