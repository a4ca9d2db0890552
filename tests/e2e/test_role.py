"""Run the Ansible role on a real machine, and use the installed server. The tests depend on their order."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.authority import Authority
from tests.e2e.api import Api
from tests.e2e.conftest import NEWER
from tests.e2e.machine import Machine, suites
from tests.e2e.play import Playbook

# The first test builds the machine, and a run of the role takes minutes.
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]

URL = "http://127.0.0.1:5555/v3/services/haproxy/configuration/version"
HASH = "$5$e2e$W8HNtMmF3/z3eOc3YgqugD/R2OLdC2pXwpdJjc3YZO1"
# What the machine serves: pages of its own, and the very API that manages it.
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

frontend api
    bind 127.0.0.1:8443
    default_backend api

backend api
    server api 127.0.0.1:5555

backend app
    # the first is the stronger one
    server one   127.0.0.1:8001 weight 10
    server two   127.0.0.1:8002 weight 10
"""


@pytest.fixture(scope="module", params=suites())
def machine(request: pytest.FixtureRequest, wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with Machine(request.param, tmp_path_factory.mktemp("machine") / "boot.log", {"/srv/wheels": wheels}) as running:
        running.run(
            "cd /etc/ssl/private && umask 077 && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
            " -subj /CN=api -addext subjectAltName=IP:127.0.0.1 -keyout api.key -out api.pem"
        )
        yield running


@pytest.fixture(scope="module")
def playbook(machine: Machine, wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Playbook:
    (wheel,) = wheels.glob("dataplane_sidecar-*.whl")
    return Playbook(
        tmp_path_factory.mktemp("playbook"),
        machine,
        dataplaneapi_package=str(wheel),
        dataplaneapi_pip_extra_args="--no-index --find-links /srv/wheels",
        dataplaneapi_users=[{"name": "admin", "password_hash": HASH}],
        dataplaneapi_reload_delay=1,
        dataplaneapi_acl_dir="/srv/acls",
        dataplaneapi_listen_tls=["127.0.0.1:5556"],
        dataplaneapi_tls_certificate="/etc/ssl/private/api.pem",
        dataplaneapi_tls_key="/etc/ssl/private/api.key",
    )


@pytest.fixture
def api(machine: Machine) -> Iterator[Api]:
    api = Api(machine)
    yield api
    api.close()


def main_pid(machine: Machine) -> int:
    return int(machine.run("systemctl show --value --property MainPID dataplaneapi"))


def test_check_mode_tells_and_writes_nothing(machine: Machine, playbook: Playbook) -> None:
    before = machine.run("cat /etc/default/haproxy; find /etc /usr/local /var/lib -newer /etc/machine-id | sort")
    output, recap = playbook.run("--check", "--diff")
    assert recap["changed"] > 5
    assert recap["ignored"] == 0
    assert '+EXTRAOPTS="-S /run/haproxy/master.sock,mode,660,group,dataplaneapi"' in output
    assert HASH not in output
    assert machine.run("cat /etc/default/haproxy; find /etc /usr/local /var/lib -newer /etc/machine-id | sort") == before
    assert machine.ask("id dataplaneapi").returncode == 1


def test_it_installs(machine: Machine, playbook: Playbook) -> None:
    before = machine.run("cat /etc/haproxy/haproxy.cfg")
    output, recap = playbook.run("--diff")
    assert recap["failed"] == 0
    assert HASH not in output
    assert machine.run("systemctl is-active dataplaneapi.service dataplaneapi.socket haproxy").split() == ["active"] * 3
    assert machine.run("cat /etc/haproxy/haproxy.cfg") == before, "a configuration that is there stays as it is"
    assert machine.run("stat -c '%U %a' /etc/dataplaneapi/users /etc/haproxy/dataplaneapi.yaml").split("\n") == [
        "root 600",
        "dataplaneapi 640",
    ]


def test_nothing_is_open_to_others(machine: Machine) -> None:
    open_ports = re.findall(r"LISTEN +\d+ +\d+ +(\S+)", machine.run("ss -ltn"))
    assert sorted(open_ports) == ["127.0.0.1:5555", "127.0.0.1:5556"]
    assert machine.run("stat -c '%U %G %a' /run/dataplaneapi.sock") == "root dataplaneapi 660"


def test_a_second_run_changes_nothing(playbook: Playbook) -> None:
    output, recap = playbook.run("--diff")
    assert recap["changed"] == 0, output


def test_it_is_locked_in(machine: Machine) -> None:
    status = dict(re.findall(r"^(\w+):\t(.*)$", machine.run(f"cat /proc/{main_pid(machine)}/status"), re.MULTILINE))
    assert (status["CapEff"], status["CapBnd"], status["NoNewPrivs"], status["Seccomp"]) == ("0" * 16, "0" * 16, "1", "2")
    journal = machine.run("journalctl --no-pager -u dataplaneapi -p warning")
    assert re.findall(r"level=(?!.*not confined).*", journal) == [], "it starts without a warning"


def told_by_haproxy(machine: Machine, command: str) -> str:
    """Send a command to the worker of HAProxy, and return the answer."""
    script = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect('/run/haproxy/admin.sock')"
    script += "; s.sendall(sys.argv[1].encode() + b'\\n'); print(s.recv(999).decode())"
    return machine.run(f'python3 -c "{script}" "{command}"')


def test_it_edits_reloads_and_changes_live(machine: Machine, api: Api) -> None:
    answer = api.ask("POST", "configuration/raw", CONFIGURATION, version=api.version())
    assert api.outcome(answer) == "succeeded"
    assert machine.run("grep -c 'the first is the stronger one' /etc/haproxy/haproxy.cfg") == "1"
    file, server = machine.run("stat -c '%i %U' /etc/haproxy/haproxy.cfg"), api.ask("GET", "configuration/backends/app/servers/one").json()
    answer = api.ask("PUT", "configuration/backends/app/servers/one", server | {"weight": 77}, version=api.version())
    assert answer.status_code == 200, answer.text
    assert "77 (initial 10)" in told_by_haproxy(machine, "get weight app/one")
    assert file != machine.run("stat -c '%i %U' /etc/haproxy/haproxy.cfg"), "a new file takes the place of the old one"
    assert "server one   127.0.0.1:8001 weight 77\n" in machine.run("cat /etc/haproxy/haproxy.cfg") + "\n"


def test_what_haproxy_refuses_is_said_from_inside_the_sandbox(api: Api) -> None:
    """The check of a regular expression or a name server needs more permissions in the sandbox than other checks."""
    more = "\nresolvers dns\n    nameserver one 127.0.0.1:53\n\nfrontend rules\n    bind 127.0.0.1:8444\n"
    more += "    http-request deny if { path_reg ^/a+$ }\n"
    raw = api.ask("GET", "configuration/raw").text
    assert api.outcome(api.ask("POST", "configuration/raw", raw + more, version=api.version())) == "succeeded"
    answer = api.ask("POST", "configuration/raw", raw + "\nbackend x\n    nonsense\n", version=api.version())
    assert answer.status_code == 400
    assert "unknown keyword 'nonsense'" in answer.json()["message"]


def test_a_reload_asked_for_through_the_haproxy_it_reloads(machine: Machine, api: Api) -> None:
    target = f"http://127.0.0.1:8443/v3/services/haproxy/configuration/backends?version={api.version()}&force_reload=true"
    body = '{"name": "through"}'
    words = f"curl -s -o /tmp/answer -w '%{{http_code}}' -H 'Authorization: {api.authorization}' -H 'Content-Type: application/json'"
    assert machine.run(f"{words} -d '{body}' '{target}'") == "201"
    assert json.loads(machine.run("cat /tmp/answer"))["name"] == "through"
    assert "backend through" in machine.run("cat /etc/haproxy/haproxy.cfg")


def test_tls_with_a_key_that_only_root_can_read(machine: Machine, api: Api) -> None:
    assert machine.run("stat -c '%U %a' /etc/ssl/private/api.key") == "root 600"
    words = f"curl -s --cacert /etc/ssl/private/api.pem -H 'Authorization: {api.authorization}'"
    assert machine.run(f"{words} https://127.0.0.1:5556/v3/services/haproxy/configuration/version") == str(api.version())


def test_wrong_credentials(machine: Machine, api: Api) -> None:
    wrong = Api(machine, password="guessed")
    try:
        assert wrong.ask("GET", "configuration/version").status_code == 401
    finally:
        wrong.close()
    assert api.ask("GET", "configuration/version").status_code == 200


def test_a_directory_of_acls_outside(machine: Machine, api: Api) -> None:
    """The role creates the directory, and permits the sandboxed service to use it."""
    answer = api.ask("GET", "/v3/sidecar/acls")
    assert (answer.status_code, answer.json()) == (200, [])
    assert machine.run("stat -c '%U %a' /srv/acls") == "dataplaneapi 750"
    machine.run("nsenter --target $(systemctl show --value -p MainPID dataplaneapi) --mount test -w /srv/acls")


@pytest.mark.parametrize("user", ["root", "dataplaneapi"])
def test_the_doctor_finds_it_well(machine: Machine, user: str) -> None:
    output = machine.run(f"runuser -u {user} -- dataplaneapi doctor")
    assert re.findall(r"^(?:warning|error) (?!.*sandbox:).*", output, re.MULTILINE) == []


def test_client_certificates_that_are_revoked(machine: Machine, playbook: Playbook, tmp_path: Path) -> None:
    output, recap = playbook.run("--tags", "dataplaneapi_config", fails=True, dataplaneapi_tls_crl="/etc/haproxy/revoked.pem")
    assert "dataplaneapi_tls_crl needs dataplaneapi_tls_ca" in output
    assert recap["changed"] == 0
    authority = Authority(tmp_path)
    good, revoked = authority.issue("good"), authority.issue("revoked")
    machine.put(authority.file, "/etc/haproxy/clients.pem")
    (machine.root / "etc/haproxy/revoked.pem").write_bytes(authority.revoke(revoked[0]))
    for name, (certificate, key) in {"good": good, "revoked": revoked}.items():
        machine.write(f"/root/{name}.pem", certificate.read_text() + key.read_text())
    tags = ("--tags", "dataplaneapi_config,dataplaneapi_service")
    playbook.run(*tags, dataplaneapi_tls_ca="/etc/haproxy/clients.pem", dataplaneapi_tls_crl="/etc/haproxy/revoked.pem")
    asked = "curl -s -o /dev/null -w '%{http_code}' --cacert /etc/ssl/private/api.pem https://127.0.0.1:5556/livez --cert"
    assert machine.run(f"{asked} /root/good.pem") == "200"
    assert machine.ask(f"{asked} /root/revoked.pem").stdout == "000"
    playbook.run(*tags)


class Asked:
    """Sends ten requests a second during a test, over one connection each and over one persistent connection."""

    def __init__(self, machine: Machine, authorization: str) -> None:
        self._stop = machine.root / "tmp/stop"
        self._stop.unlink(missing_ok=True)
        machine.put(Path(__file__).with_name("asker.py"), "/tmp/asker.py")
        words = ["python3", "/tmp/asker.py", "/tmp/stop", URL, authorization]
        self._running = [machine.start_script([*words, *more], stdout=subprocess.PIPE) for more in ([], ["keep"])]
        machine.run("sleep 0.5")

    def answers(self) -> list[dict[str, int]]:
        found = []
        self._stop.touch()
        for process in self._running:
            output, _ = process.communicate(timeout=60)
            found.append(json.loads(output))
        return found


def test_a_restart_refuses_no_request(machine: Machine, api: Api) -> None:
    asked, pids = Asked(machine, api.authorization), {main_pid(machine)}
    for _ in range(3):
        machine.restart()
        machine.run("sleep 0.5")
        pids.add(main_pid(machine))
    found = asked.answers()
    assert len(pids) == 4
    assert [list(each) for each in found] == [["200"], ["200"]], found
    assert all(each["200"] > 15 for each in found), found


def test_a_reload_of_the_unit_takes_over_and_drops_nothing(machine: Machine, api: Api) -> None:
    asked, pid = Asked(machine, api.authorization), main_pid(machine)
    machine.run("systemctl reload dataplaneapi")
    machine.until("journalctl --no-pager -u dataplaneapi | grep -q 'msg=\"Reread '")
    assert [list(each) for each in asked.answers()] == [["200"], ["200"]]
    assert main_pid(machine) == pid


def test_one_that_hangs_is_started_anew(machine: Machine, api: Api) -> None:
    drop_in = "/etc/systemd/system/dataplaneapi.service.d/watchdog.conf"
    machine.write(drop_in, "[Service]\nWatchdogSec=3\n")
    machine.restart()
    pid = main_pid(machine)
    machine.run(f"kill -STOP {pid}")
    machine.until(f'test "$(systemctl show --value --property MainPID dataplaneapi)" -gt {pid} && systemctl is-active dataplaneapi')
    assert "Watchdog timeout" in machine.run("journalctl --no-pager -u dataplaneapi")
    machine.run(f"rm {drop_in}")
    machine.restart()
    assert api.ask("GET", "configuration/version").status_code == 200


def test_a_variable_that_is_none(machine: Machine, playbook: Playbook) -> None:
    output, recap = playbook.run("--tags", "dataplaneapi_config", fails=True, dataplaneapi_prot=5555)
    assert "not among this role's variables: dataplaneapi_prot;" in output
    assert recap["changed"] == 0


@pytest.mark.parametrize("package", ["dataplane-sidecar", "dataplane-sidecar==3.4.0", "https://example.invalid/a.whl"])
def test_a_package_that_nobody_vouches_for_is_refused(playbook: Playbook, package: str) -> None:
    output, recap = playbook.run("--tags", "dataplaneapi_install", fails=True, dataplaneapi_package=package)
    assert f'dataplaneapi_package is "{package}": it has to be a .whl or .deb on the controller' in output.replace('\\"', '"')
    assert recap["changed"] == 0


@pytest.mark.parametrize("what", ["cannot be had", "does not start"])
def test_an_upgrade_that_fails_leaves_the_version_that_serves(
    machine: Machine, playbook: Playbook, api: Api, broken: Path, what: str
) -> None:
    version = api.ask("GET", "/v3/info").json()["api"]["version"]
    package = "/nowhere/dataplane_sidecar-3.9-py3-none-any.whl" if what == "cannot be had" else str(broken)
    output, _ = playbook.run("--tags", "dataplaneapi_install,dataplaneapi_service", fails=True, dataplaneapi_package=package)
    if what == "does not start":
        assert "journalctl -u dataplaneapi tells why. The former version runs again." in output
    assert api.ask("GET", "/v3/info").json()["api"]["version"] == version
    assert version.split()[0].removeprefix("v") in machine.run("dataplaneapi --version")


def test_an_environment_of_another_python_is_made_anew(machine: Machine, playbook: Playbook, api: Api) -> None:
    """After an upgrade of Debian, the packages of the environment are in a directory that the new Python does not search."""
    environment = machine.run("dirname $(dirname $(readlink -f /usr/local/bin/dataplaneapi))")
    machine.run(f"mv {environment}/lib/python3.* {environment}/lib/python3.0")
    assert machine.ask("dataplaneapi --version").returncode != 0
    _, recap = playbook.run("--tags", "dataplaneapi_install,dataplaneapi_service")
    assert recap["failed"] == 0
    machine.run("dataplaneapi --version")
    assert api.ask("GET", "configuration/version").status_code == 200
    assert machine.ask(f"ls {environment}/lib/python3.0").returncode != 0


def test_an_upgrade_under_traffic(machine: Machine, playbook: Playbook, api: Api, newer: Path) -> None:
    asked = Asked(machine, api.authorization)
    _, recap = playbook.run("--tags", "dataplaneapi_install,dataplaneapi_service", dataplaneapi_package=str(newer))
    assert recap["failed"] == 0
    assert [list(each) for each in asked.answers()] == [["200"], ["200"]]
    assert NEWER in api.ask("GET", "/v3/info").json()["api"]["version"]
    assert machine.run("ls -A /usr/local/lib/dataplaneapi") == newer.name, "no other version is left"


def test_it_goes_and_leaves_haproxy(machine: Machine, playbook: Playbook) -> None:
    before, pid = machine.run("cat /etc/haproxy/haproxy.cfg"), machine.run("systemctl show --value --property MainPID haproxy")
    playbook.run(dataplaneapi_state="absent")
    assert machine.ask("id dataplaneapi || command -v dataplaneapi || systemctl cat dataplaneapi").returncode != 0
    assert machine.run("cat /etc/haproxy/haproxy.cfg") == before
    assert machine.run("systemctl show --value --property MainPID haproxy") == pid
    assert machine.run("stat -c %U /etc/haproxy/haproxy.cfg") == "root"
    assert "-S" not in machine.run("grep ^EXTRAOPTS /etc/default/haproxy")
    machine.run("systemctl reload haproxy && systemctl restart haproxy && systemctl is-active haproxy")


def test_from_the_package_instead(machine: Machine, playbook: Playbook, api: Api, deb: Path) -> None:
    _, recap = playbook.run(dataplaneapi_package=str(deb))
    assert recap["failed"] == 0
    assert api.ask("GET", "configuration/version").status_code == 200
    command, unit = machine.run("command -v dataplaneapi; systemctl show --value -p FragmentPath dataplaneapi").split()
    assert (command, unit.removeprefix("/usr")) == ("/usr/bin/dataplaneapi", "/lib/systemd/system/dataplaneapi.service")
    output, recap = playbook.run("--diff", dataplaneapi_package=str(deb))
    assert recap["changed"] == 0, output
    playbook.run(dataplaneapi_package=str(deb), dataplaneapi_state="absent")
    assert machine.ask("id dataplaneapi || command -v dataplaneapi || systemctl cat dataplaneapi").returncode != 0
