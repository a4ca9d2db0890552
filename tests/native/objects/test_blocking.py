"""The same names without an event loop: calls return results, `async with` is `with`, and errors are those of the calls."""

import re
from pathlib import Path

import pytest

import haproxy_native
from haproxy_native.errors import NotFound, Refused
from haproxy_native.objects import blocking
from tests.haproxy.process import HAProxy as Process
from tests.native.objects.test_running import CONFIG
from tests.native.objects.types import types
from tests.rules.sources import CHECKOUT


def test_a_script_without_an_event_loop(tmp_path: Path) -> None:
    with (
        Process(tmp_path, CONFIG) as process,
        haproxy_native.open_sync(process.file, master=process.master, haproxy=process.binary, reload_delay=0.1) as haproxy,
    ):
        with haproxy.change() as change:
            change.backends["www"].servers["web1"].weight = 10
        assert (str(change.outcome), haproxy.version) == ("version 2, live", 2)
        assert [server.weight for server in haproxy.runtime.servers("www")] == [10]
        with pytest.raises(Refused), haproxy.change() as refused:
            refused.backends["www"].servers["web1"].resolvers = "none"
        with pytest.raises(ZeroDivisionError), haproxy.change() as broken:
            broken.backends["www"].servers["web1"].weight = 1 // 0
        haproxy.revert(change.outcome)
        assert haproxy.configuration.backends["www"].servers["web1"].weight == 7
        web1 = haproxy.runtime.server("www", "web1")
        assert (web1.drain().members[0].new, web1.state().admin_state) == ("drain", "drain")
        with pytest.raises(NotFound):
            haproxy.runtime.server("www", "web2").drain()
        table = haproxy.runtime.stick_tables["www"]
        table.set("192.0.2.1", gpc0=3)
        assert [entry.gpc0 for entry in table.entries()] == [3]
        assert repr(haproxy) == f"<HAProxy of {process.file}, version 3>"
        assert "change" in dir(haproxy) and "commit" in str(haproxy.change.__doc__)


CODE = """\
import haproxy_native
with haproxy_native.open_sync("haproxy.cfg") as haproxy:
    with haproxy.change() as change:
        change.backends["www"].servers["web1"].weight = 10
    outcome: haproxy_native.Outcome = haproxy.runtime.server("www", "web1").drain()
    print([entry.value for entry in haproxy.maps["hosts.map"].entries()], haproxy.revert(change.outcome).live)
    haproxy.runtime.server("www", "web1").set(wieght=1)
    haproxy.mapz
haproxy_native.open_sync("haproxy.cfg", mastr="x")
"""


def test_it_is_typed(tmp_path: Path) -> None:
    file = tmp_path / "code.py"
    file.write_text(CODE)
    assert re.findall(r":(\d+): error: (.*?)(?:;|  )", types(file)) == [
        ("7", 'Unexpected keyword argument "wieght" for "set" of "Server"'),
        ("8", '"HAProxy" has no attribute "mapz"'),
        ("9", 'Unexpected keyword argument "mastr" for "open_sync"'),
    ]


def test_every_class_of_the_stub_is_wrapped() -> None:
    stub = (CHECKOUT / "native" / "haproxy_native" / "objects" / "blocking.pyi").read_text()
    declared = {line.split()[1].split("(")[0].rstrip(":") for line in stub.splitlines() if line.startswith("class ")}
    # The base of two of them.
    assert declared - {"Files"} == {kind.__name__ for kind in blocking.CALLED}
