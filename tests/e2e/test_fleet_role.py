"""The Ansible role dataplaneapi_fleet on three machines, and the fleet that it makes: one story, in order."""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import pytest

from tests.e2e.machine import Machine, Switch, suites
from tests.e2e.play import ROLE, Plays
from tests.e2e.test_role import HASH
from tests.until import until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]

PASSWORD = "adminpwd"
ADDRESSES = {"lb1": "10.0.0.1", "lb2": "10.0.0.2", "lb3": "10.0.0.3"}
CONFIGURATION = """\
global
    stats socket /run/haproxy/admin.sock mode 660 level admin
    user haproxy
    group haproxy

defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 60s

backend app
    server one 127.0.0.1:8001 weight 10
"""


class Fleet:
    """Three machines with a network. `names` of the machines are those of the inventory."""

    def __init__(self, suite: str, directory: Path, wheels: Path, *etcd: str) -> None:
        self.machines = {
            name: Machine(suite, directory / f"{name}.log", {"/srv/wheels": wheels}, _made(directory / name)) for name in ADDRESSES
        }
        (wheel,) = wheels.glob("dataplane_sidecar-*.whl")
        self.plays = Plays(
            _made(directory / "plays"),
            self.machines,
            f"{ROLE}_fleet",
            dataplaneapi_package=str(wheel),
            dataplaneapi_pip_extra_args="--no-index --find-links /srv/wheels",
            dataplaneapi_users=[{"name": "admin", "password_hash": HASH}],
            dataplaneapi_reload_delay=1,
            dataplaneapi_fleet_nodes=list(ADDRESSES),
            dataplaneapi_fleet_etcd=list(etcd),
            dataplaneapi_fleet_address="{{ " + json.dumps(ADDRESSES) + "[inventory_hostname] }}",
            dataplaneapi_fleet_api_password=PASSWORD,
        )
        self._switch = Switch()

    def start(self, name: str) -> None:
        self.machines[name].start(self._switch, f"{ADDRESSES[name]}/24")

    def ctl(self, name: str, words: str) -> str:
        return self.machines[name].run(f"DATAPLANECTL_USER=admin DATAPLANECTL_PASSWORD={PASSWORD} dataplaneapi ctl {words}")

    def status(self, name: str) -> dict[str, Any]:
        return dict(json.loads(self.ctl(name, "fleet -o json")))

    def phases(self) -> dict[str, tuple[int, str, bool]]:
        """Return release, phase and presence of each node."""
        nodes = self.status("lb1")["nodes"]
        return {node["name"]: (node.get("number", 0), node["phase"], node["present"]) for node in nodes}

    def wait(self, number: int) -> None:
        """Wait until all nodes have a release."""
        until(lambda: self.phases() == dict.fromkeys(ADDRESSES, (number, "good", True)), str(self.phases()))

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(self._switch)
            for name, machine in self.machines.items():
                stack.callback(machine.stop)
                self.start(name)
                machine.write("/etc/haproxy/haproxy.cfg", CONFIGURATION)
                machine.run("systemctl restart haproxy")
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def _made(directory: Path) -> Path:
    directory.mkdir()
    return directory


@pytest.fixture(scope="module", params=suites())
def fleet(request: pytest.FixtureRequest, wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with Fleet(request.param, tmp_path_factory.mktemp("fleet"), wheels, *ADDRESSES) as running:
        yield running


def changes(recaps: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    return {name: recap["changed"] for name, recap in recaps.items()}


def test_check_mode_writes_nothing(fleet: Fleet) -> None:
    _, recaps = fleet.plays.run("--check", "--diff")
    assert all(recap["failed"] == 0 for recap in recaps.values())
    for machine in fleet.machines.values():
        assert machine.ask("ls /etc/dataplaneapi-fleet || id dataplaneapi || systemctl is-active etcd").returncode != 0


def test_it_makes_a_fleet(fleet: Fleet) -> None:
    output, _ = fleet.plays.run("--diff")
    fleet.wait(1)
    keys = {machine.run("cat /etc/dataplaneapi-fleet/fleet.key") for machine in fleet.machines.values()}
    assert len(keys) == 1
    assert keys.pop() not in output
    for machine in fleet.machines.values():
        assert machine.run("stat -c '%U:%G %a' /etc/dataplaneapi-fleet/fleet.key") == "root:dataplaneapi 640"


def test_a_second_run_changes_nothing(fleet: Fleet) -> None:
    output, recaps = fleet.plays.run("--diff")
    assert changes(recaps) == dict.fromkeys(ADDRESSES, 0), output
    output, recaps = fleet.plays.run("--diff", "--limit", "lb3")
    assert changes(recaps) == {"lb3": 0}, output


def test_the_doctor_finds_it_well(fleet: Fleet) -> None:
    for machine in fleet.machines.values():
        assert "error" not in machine.run("dataplaneapi doctor | grep -i -E 'fleet|etcd'")


def test_etcd_requires_certificate_and_user(fleet: Fleet) -> None:
    machine, files = fleet.machines["lb2"], "/etc/dataplaneapi-fleet"
    get = "etcdctl --endpoints https://10.0.0.1:2379 --cacert etcd-ca.pem"
    assert machine.ask(f"cd {files} && {get} get --prefix /").returncode != 0
    with_certificate = f"cd {files} && {get} --cert etcd.pem --key etcd.key"
    assert machine.ask(f"{with_certificate} get --prefix /").returncode != 0
    user = f"{with_certificate} --user edge:$(cat etcd.password)"
    assert "/dataplaneapi/edge/head" in machine.run(f"{user} get --keys-only --prefix /dataplaneapi/edge/")
    assert machine.ask(f"{user} get --prefix /other").returncode != 0


def test_a_release_reaches_all(fleet: Fleet) -> None:
    fleet.ctl("lb1", "weight app/one 20")
    fleet.ctl("lb1", "fleet release -m heavier --bake 1s --wait 120")
    fleet.wait(2)
    for machine in fleet.machines.values():
        assert "weight 20" in machine.run("cat /etc/haproxy/haproxy.cfg")


def test_a_node_that_was_away_catches_up(fleet: Fleet) -> None:
    fleet.machines["lb3"].stop()
    until(lambda: not fleet.phases()["lb3"][2], "lb3 is present")
    fleet.ctl("lb1", "weight app/one 30")
    fleet.ctl("lb1", "fleet release -m heavier --bake 1s --wait 120")
    fleet.start("lb3")
    fleet.wait(3)
    assert "weight 30" in fleet.machines["lb3"].run("cat /etc/haproxy/haproxy.cfg")
    assert fleet.machines["lb3"].run("systemctl is-active etcd") == "active"


def test_an_edit_by_hand_survives_a_run(fleet: Fleet) -> None:
    fleet.ctl("lb2", "weight app/one 40")
    until(lambda: fleet.phases()["lb2"][1] == "drifted", str(fleet.phases()))
    output, recaps = fleet.plays.run()
    assert changes(recaps) == dict.fromkeys(ADDRESSES, 0), output
    assert "weight 40" in fleet.machines["lb2"].run("cat /etc/haproxy/haproxy.cfg")
    fleet.ctl("lb2", "fleet adopt")
    fleet.wait(3)


def test_other_members_of_etcd_are_refused(fleet: Fleet) -> None:
    fleet.machines["lb3"].run("systemctl stop etcd && mv /var/lib/etcd/dataplaneapi /root/")
    output, recaps = fleet.plays.run(fails=True)
    assert "This role does not change the members of etcd" in output
    assert changes(recaps) == dict.fromkeys(ADDRESSES, 0)
    fleet.machines["lb3"].run("mv /root/dataplaneapi /var/lib/etcd/ && systemctl start etcd")


def test_a_setting_of_the_fleet_reaches_all(fleet: Fleet) -> None:
    output, _ = fleet.plays.run(dataplaneapi_fleet_settings={"local_changes": "drift"})
    fleet.wait(3)
    for machine in fleet.machines.values():
        assert "local_changes: drift" in machine.run("cat /etc/haproxy/dataplaneapi.yaml")
    assert PASSWORD not in output
