"""A set is judged as it will stand, names nothing of where it was looked at, and leaves nothing behind."""

import asyncio
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from haproxy_native.check.check import CheckSettings
from haproxy_native.check.messages import Message
from haproxy_native.check.whole_set import WholeSet, check_whole_set
from haproxy_native.errors import CheckImpossible, Refused
from tests.app.authority import Authority
from tests.haproxy import binaries

MAIN = """\
global
  crt-base {home}/ssl
defaults
  mode http
  timeout connect 1s
  timeout client 1s
  timeout server 1s
"""
WEB = """\
# the second file
frontend f
  bind 127.0.0.1:8443 ssl crt site.pem
  errorfile 503 errors/503.http
  http-request deny if {{ src -f {home}/maps/deny.lst }}
  use_backend %[src,map_ip({home}/maps/nets.map,b)]
backend b
"""
TEXTS = {"haproxy.cfg": MAIN, "conf.d/web.cfg": WEB}
FILES = {"maps/nets.map": b"192.0.2.0/24 b\n", "maps/deny.lst": b"192.0.2.1\n"}
PAGE = b"HTTP/1.0 503 Sorry\r\n\r\nsorry\n"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    directory = tmp_path / "temporary"
    directory.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    yield directory
    assert os.listdir(directory) == []


@pytest.fixture
def site(tmp_path: Path) -> WholeSet:
    """Nothing of it is on the disk."""
    home = tmp_path / "etc"
    (tmp_path / "keys").mkdir()
    certificate, key = Authority(tmp_path / "keys").issue("site")
    configuration = {f"{home}/{name}": text.format(home=home).encode() for name, text in TEXTS.items()}
    files = {f"{home}/{name}": content for name, content in FILES.items()}
    return WholeSet(configuration, {**files, f"{home}/ssl/site.pem": certificate.read_bytes() + key.read_bytes(), "errors/503.http": PAGE})


def checked(given: WholeSet) -> list[Message]:
    return asyncio.run(check_whole_set(given, CheckSettings(binaries.newest(), command="false")))


def test_a_set_that_is_right(temporary: Path, site: WholeSet, tmp_path: Path) -> None:
    assert checked(site) == []
    assert not (tmp_path / "etc").exists()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("maps/nets.map", b"nonsense b\n", "nonsense"),
        ("maps/nets.map", None, "nets.map"),
        ("ssl/site.pem", b"-----BEGIN CERTIFICATE-----\n", "site.pem"),
        ("maps/deny.lst", b"nobody\n", "nobody"),
    ],
)
def test_what_is_wrong_in_a_file(temporary: Path, site: WholeSet, tmp_path: Path, name: str, content: bytes | None, said: str) -> None:
    path = f"{tmp_path}/etc/{name}"
    files = {each: data for each, data in site.files.items() if each != path} | ({} if content is None else {path: content})
    with pytest.raises(Refused, match=said) as refused:
        checked(replace(site, files=files))
    assert str(temporary) not in str(refused.value)
    assert all(str(temporary) not in str(alert) for alert in refused.value.alerts)


def test_what_is_there_already_stays_in_reach(temporary: Path, site: WholeSet, tmp_path: Path) -> None:
    path = f"{tmp_path}/etc/maps/deny.lst"
    (tmp_path / "etc" / "maps").mkdir(parents=True)
    (tmp_path / "etc" / "maps" / "deny.lst").write_bytes(site.files[path])
    (tmp_path / "etc" / "maps" / "nets.map").write_text("nonsense that is about to be replaced\n")
    assert checked(replace(site, files={each: data for each, data in site.files.items() if each != path})) == []
    assert (tmp_path / "etc" / "maps" / "deny.lst").read_bytes() == b"192.0.2.1\n"


def test_a_name_cannot_leave_the_tree(temporary: Path, site: WholeSet, tmp_path: Path) -> None:
    outside = f"../../../../../../../../{tmp_path}/outside"
    checked(replace(site, files={**site.files, outside: b"x", "/../../etc/outside": b"x"}))
    assert not (tmp_path / "outside").exists()
    assert not Path("/etc/outside").exists()


def test_on_a_host_where_the_rest_is_as_it_is(temporary: Path, site: WholeSet, tmp_path: Path) -> None:
    """Relative paths begin where HAProxy is started, or where the configuration says: at a directory above the files of the set."""
    home = tmp_path / "etc"
    (home / "errors").mkdir(parents=True)
    (home / "errors" / "503.http").write_bytes(PAGE)
    (home / "maps").mkdir()
    (home / "maps" / "deny.lst").write_bytes(FILES["maps/deny.lst"])
    content = tmp_path / "arrived"
    content.write_bytes(site.files[f"{home}/ssl/site.pem"])
    main = MAIN.format(home=home).replace(f"{home}/ssl", f"{home}/").encode()
    web = WEB.format(home=home).replace("site.pem", "ssl/site.pem").replace(f"{home}/maps", "maps").encode()
    files = {f"{home}/maps/nets.map": FILES["maps/nets.map"], f"{home}/ssl/site.pem": content}
    given = WholeSet({f"{home}/haproxy.cfg": main, f"{home}/conf.d/web.cfg": web}, files, home=home)
    assert checked(given) == []
    with pytest.raises(Refused, match="nets.map"):
        checked(replace(given, files={f"{home}/ssl/site.pem": content}))
    assert sorted(each.name for each in home.iterdir()) == ["errors", "maps"]


@pytest.mark.parametrize("where", ["config", "parent"])
def test_paths_that_begin_at_the_file(temporary: Path, tmp_path: Path, where: str) -> None:
    home = tmp_path / "etc"
    home.mkdir()
    way = "maps/x.map" if where == "config" else "etc/maps/x.map"
    text = f"global\n  default-path {where}\nfrontend f\n  bind 127.0.0.1:8080\n  use_backend %[src,map_ip({way})]\n"
    given = WholeSet({f"{home}/haproxy.cfg": text.encode()}, {f"{home}/maps/x.map": b"192.0.2.0/24 b\n"}, home=Path("/"))
    with pytest.raises(Refused, match=r"x\.map"):
        checked(replace(given, files={f"{home}/maps/other.map": b"192.0.2.0/24 b\n"}))
    assert not any(said.level == "alert" for said in checked(given))


def test_a_list_names_what_comes_with_it(temporary: Path, site: WholeSet, tmp_path: Path) -> None:
    home = tmp_path / "etc"
    path = f"{home}/ssl/all.txt"
    web = WEB.format(home=home).replace("crt site.pem", f"crt-list {path}").encode()
    files = {**site.files, path: f"{home}/ssl/site.pem localhost\n".encode()}
    given = replace(site, configuration={**site.configuration, f"{home}/conf.d/web.cfg": web}, files=files)
    assert checked(replace(given, lists=[path])) == []
    with pytest.raises(Refused, match=r"site\.pem"):
        checked(given)


def test_one_that_is_given_up_leaves_nothing(temporary: Path, site: WholeSet, tmp_path: Path) -> None:
    """While the files are being laid out; the fixture looks at what is left."""
    many = {f"{tmp_path}/etc/many/{number}": b"x" for number in range(2000)}

    def found(pattern: str) -> list[Path]:
        return list(temporary.glob(pattern))

    async def given_up() -> None:
        work = asyncio.create_task(check_whole_set(replace(site, files={**site.files, **many}), CheckSettings(binaries.newest())))
        while not found("*/root"):
            await asyncio.sleep(0)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert found("*") == []

    asyncio.run(given_up())


def test_without_haproxy(temporary: Path, site: WholeSet) -> None:
    with pytest.raises(CheckImpossible):
        asyncio.run(check_whole_set(site, CheckSettings("/no/such/haproxy")))
