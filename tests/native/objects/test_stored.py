"""Maps and certificates: the file and the process change together."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

import haproxy_native
from haproxy_native.errors import BadRequest, BadValue, Conflict, InUse, Missing, RuntimeRefused, Unusable
from haproxy_native.objects.haproxy import HAProxy
from tests.haproxy.process import HAProxy as Process
from tests.haproxy.process import free_port
from tests.native.objects.test_running import CONFIG
from tests.tls.pems import made

FRONTEND = """\
frontend f
    bind 127.0.0.1:{port} ssl crt {directory}/site.pem
    use_backend %[req.hdr(host),map({directory}/hosts.map,www)]
"""


def use(tmp_path: Path, work: Callable[[HAProxy], Awaitable[None]]) -> None:
    async def used(process: Process) -> None:
        place = {"maps": tmp_path, "certificates": tmp_path}
        async with haproxy_native.open(process.file, master=process.master, haproxy=process.binary, reload_delay=0.1, **place) as haproxy:
            await work(haproxy)

    (tmp_path / "hosts.map").write_text("# hosts\nexample.com www\n")
    (tmp_path / "site.pem").write_text(made("site", 1).pem)
    frontend = FRONTEND.replace("{port}", str(free_port())).replace("{directory}", str(tmp_path))
    with Process(tmp_path, CONFIG + frontend) as process:
        asyncio.run(used(process))


def test_entries_of_a_map(tmp_path: Path) -> None:
    async def entries(haproxy: HAProxy) -> dict[str, str]:
        return {entry.key: entry.value for entry in await haproxy.maps["hosts.map"].entries()}

    async def work(haproxy: HAProxy) -> None:
        hosts, file = haproxy.maps["hosts.map"], tmp_path / "hosts.map"
        added = await hosts.set("www.example.com", "www")
        assert (str(added), await hosts.get("www.example.com")) == ("map/hosts.map, live", "www")
        assert file.read_text() == "# hosts\nexample.com www\nwww.example.com www\n"
        await hosts.set("example.com", "other")
        assert await entries(haproxy) == {"example.com": "other", "www.example.com": "www"}
        await haproxy.revert(added)
        assert await entries(haproxy) == {"example.com": "other"}
        alone = await hosts.set("example.com", "alone", lasting=False)
        assert (await entries(haproxy), file.read_text()) == ({"example.com": "alone"}, "# hosts\nexample.com other\n")
        with pytest.raises(Conflict, match="in the running process alone"):
            await haproxy.revert(alone)
        await hosts.delete("example.com")
        assert (await hosts.get("example.com"), repr(hosts)) == (None, "<Map hosts.map>")
        await hosts.fill({"a": "1", "b": "2"})
        assert await entries(haproxy) == {"a": "1", "b": "2"}
        with pytest.raises(BadValue, match="must not contain blanks"):
            await hosts.set("a b", "c")
        with pytest.raises(RuntimeRefused):
            await haproxy.maps["none.map"].entries()

    use(tmp_path, work)


def test_certificates(tmp_path: Path) -> None:
    async def work(haproxy: HAProxy) -> None:
        certificates = haproxy.certificates
        assert repr(certificates) == "<certificates: site.pem>"
        replaced = await certificates.put("site.pem", made("site", 2).pem)
        assert (str(replaced), certificates.read("site.pem").served.serial_number) == ("certificate/site.pem, live", 2)
        assert "Serial: 02" in await haproxy.engine.runtime.send(f"show ssl cert {tmp_path}/site.pem")
        await haproxy.revert(replaced)
        assert "Serial: 01" in await haproxy.engine.runtime.send(f"show ssl cert {tmp_path}/site.pem")
        with pytest.raises(BadRequest):
            await certificates.put("site.pem", "nonsense")
        with pytest.raises(InUse):
            await certificates.delete("site.pem")
        await certificates.put("new.pem", made("new", 3).pem.encode())
        assert certificates.names() == ["new.pem", "site.pem"]
        await certificates.delete("new.pem")
        with pytest.raises(Missing):
            certificates.read("new.pem")

    use(tmp_path, work)


def test_a_directory_that_open_does_not_know_is_named(tmp_path: Path) -> None:
    async def work() -> None:
        async with haproxy_native.open(file) as haproxy:
            with pytest.raises(Unusable, match="pass it as certificates=DIRECTORY to open"):
                haproxy.certificates.names()

    file = tmp_path / "haproxy.cfg"
    file.write_text("backend a\n")
    asyncio.run(work())
