"""Kill the server at random moments of changes of maps, certificates and servers.

After its restart, file and process must agree on the old or the new state. All files must be complete, without temporary files.
"""

import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest

from haproxy_native.disk import database
from haproxy_native.history.journal import Journal, Limits
from haproxy_native.storage import list_files
from tests.acceptance.killer import Killer, wait_for_what_is_owed
from tests.acceptance.quick import PLAIN, SERVICES, Quick
from tests.databases import former_contents
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.tls.pems import made

CONFIG = (
    PLAIN
    + """\
frontend web from plain
    bind 127.0.0.1:{port} ssl crt {directory}/ssl_certs_dir/site.pem
    http-request set-var(txn.a) path,map({directory}/maps_dir/hosts.map)
    default_backend app

backend app from plain
    server one 127.0.0.1:1 weight 1
"""
)
HEAD = "# by hand, and to be kept\n\n"
STORAGE, MAP = f"{SERVICES}/storage", f"{SERVICES}/runtime/maps/hosts.map"
# The content of the certificate's file, by serial number.
PEMS = {serial: made("one.example", serial).pem for serial in (17, 18)}
SERIAL = re.compile(r"^Serial: (\w+)$", re.MULTILINE)
State = dict[str, Any]


class Changes:
    """One change after the other; `stands` is what was last seen, `asked` what the change under way wants."""

    def __init__(self, sidecar: Quick, seed: int) -> None:
        self.sidecar, self.random = sidecar, random.Random(seed)
        self.maps, self.certificates = (sidecar.directory / name for name in ("maps_dir", "ssl_certs_dir"))
        self.stands: State = self.seen()
        self.files = [self.maps / "hosts.map", self.certificates / "site.pem", sidecar.haproxy.file]
        self.killer, self.answered = Killer(sidecar, self.random, self.files), 0
        self.found: set[bool] = set()

    def seen(self) -> State:
        """Return the state in the files, and assert that the process has the same state."""
        text = (self.maps / "hosts.map").read_text()
        assert text.startswith(HEAD)
        entries = [(each.key, each.value) for each in list_files.parse_map(text)]
        shown = self.sidecar.haproxy.ask(f"show map {self.maps}/hosts.map").splitlines()
        assert [tuple(line.split(" ", 2)[1:]) for line in shown if line] == entries
        serial = SERIAL.search(self.sidecar.haproxy.ask(f"show ssl cert {self.certificates}/site.pem"))
        assert serial
        assert (self.certificates / "site.pem").read_text() == PEMS[int(serial[1], 16)]
        weight = re.search(r"server one .* weight (\d+)", self.sidecar.haproxy.file.read_text())
        assert weight
        return {"entries": entries, "serial": int(serial[1], 16), "weight": int(weight[1])}

    def next(self) -> None:
        key, value = f"k{self.random.randrange(30)}", "v" * self.random.randrange(1, 30) + " x"
        entries: list[tuple[str, str]] = self.stands["entries"]
        there = dict(entries)
        every = [(key, value), *((f"n{number}", str(self.random.random())) for number in range(self.random.choice([3, 2000])))]
        text = HEAD + "".join(f"{key} {value}\n" for key, value in every)
        other = next(serial for serial in PEMS if serial != self.stands["serial"])
        weight = self.stands["weight"] % 255 + 1
        wanted: list[tuple[State, Callable[[], httpx2.Response]]] = [
            ({"entries": every}, lambda: self.sidecar.put(f"{STORAGE}/maps/hosts.map", text)),
            ({"entries": every}, lambda: self.sidecar.put(MAP, [{"key": key, "value": value} for key, value in every], force_sync=True)),
            ({"serial": other}, lambda: self.sidecar.put(f"{STORAGE}/ssl_certificates/site.pem", PEMS[other])),
            ({"weight": weight}, lambda: self.sidecar.put_server("one", {"weight": weight})),
        ]
        if key in there:
            left = [each for each in entries if each[0] != key]
            changed = [(name, value if name == key else former) for name, former in entries]
            wanted += [
                ({"entries": left}, lambda: self.sidecar.delete(f"{MAP}/entries/{key}", force_sync=True)),
                ({"entries": changed}, lambda: self.sidecar.put(f"{MAP}/entries/{key}", {"value": value}, force_sync=True)),
            ]
        else:
            body = {"key": key, "value": value}
            wanted.append(({"entries": [*entries, (key, value)]}, lambda: self.sidecar.post(f"{MAP}/entries", body, force_sync=True)))
        change, send = self.random.choice(wanted)
        self.asked = self.stands | change
        with self.killer.timed():
            answer = send()
            assert answer.status_code in (200, 201, 204), answer.text
        self.stands = self.asked
        self.answered += 1
        assert self.is_begun()

    def is_begun(self) -> bool:
        """Return whether the history has an entry for each answered change. After a kill, the last entry may have no end."""
        with closing(database.State(self.sidecar.directory / "dataplane/engine/state")) as state:
            journal = Journal(state, Limits())
            # In this order, because the last entry may be ended between the two reads.
            return max([*journal.open(), journal.last or 0]) >= self.answered

    def is_entered(self) -> bool:
        """Return whether the history has all answered changes, and the present content of each file."""
        with closing(database.State(self.sidecar.directory / "dataplane/engine/state")) as state:
            journal = Journal(state, Limits())
            last = journal.last or 0
            known = [(path, journal.at(last, str(path))) for path in self.files]
            return last >= self.answered and all(content is None or content.after == path.read_bytes() for path, content in known)

    def next_and_kill(self) -> None:
        """Begin the next change, kill the server, and take the state that is found as the present one."""
        self.killer.kill_during(self.next)

    def settle(self) -> None:
        """Wait after a restart until nothing is pending. Assert that the state is the old or the new one, without temporary files."""
        wait_for_what_is_owed(self.sidecar)
        found = self.seen()
        assert found in (self.stands, self.asked)
        if self.stands != self.asked:
            self.found.add(found == self.asked)
        self.stands = found
        state = self.sidecar.directory / "dataplane" / "engine"
        assert former_contents(state / "state") == 0 and [*state.glob("journals/*/*")] == []
        assert [path.name for directory in (self.maps, self.certificates) for path in directory.iterdir()] == ["hosts.map", "site.pem"]
        server = self.sidecar.server("one")
        assert server
        assert server.uweight == found["weight"]
        deadline = time.monotonic() + 120
        while not self.is_entered():
            assert time.monotonic() < deadline, "a change that came without its answer is not in the history"
            time.sleep(0.01)


@pytest.fixture
def sidecar(tmp_path: Path) -> Iterator[Quick]:
    for name in ("maps_dir", "ssl_certs_dir"):
        (tmp_path / name).mkdir()
    (tmp_path / "maps_dir" / "hosts.map").write_text(HEAD + "k1 one\n")
    (tmp_path / "ssl_certs_dir" / "site.pem").write_text(PEMS[17])
    config = CONFIG.format(port=free_port(), directory=tmp_path)
    with HAProxy(tmp_path, config, binary=binaries.exactly("3.2")) as haproxy, Quick(haproxy) as running:
        yield running


@pytest.mark.parametrize(
    ("changes", "kills", "seed"), [(20, 3, 2026), *(pytest.param(1000, 500, seed, marks=pytest.mark.soak) for seed in range(4))]
)
def test_file_and_process_agree_after_a_kill(sidecar: Quick, changes: int, kills: int, seed: int) -> None:
    run = Changes(sidecar, seed)
    fatal = set(run.random.sample(range(changes), kills))
    for number in range(changes):
        if number not in fatal:
            run.next()
            continue
        run.next_and_kill()
        sidecar.start()
        run.settle()
    assert run.seen() == run.stands
    if kills >= 100:
        assert run.found == {False, True}, "some kills came too early, some too late"
