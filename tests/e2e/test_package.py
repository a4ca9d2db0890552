"""Install the Debian package on a machine with HAProxy by hand, make mistakes, and remove it. The tests depend on their order."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from haproxy_native import sandbox
from tests.e2e.machine import Machine, suites
from tests.rules.sources import CHECKOUT

# A machine is made first, once, and a play on one takes minutes.
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]

SETTINGS = "/etc/haproxy/dataplaneapi.yaml"
BASE = "http://127.0.0.1:5555/v3/services/haproxy"
# What a text may not do before it is accepted.
ESCAPING = """\
local file, why = io.open("/etc/haproxy/written", "w")
if not file then error("kept in: " .. why) end
file:write("by a check")
file:close()
"""
PUSHED = """\
global
    lua-load /etc/haproxy/general/escaping.lua

defaults
    timeout client 1s
    timeout connect 1s
    timeout server 1s

listen none
    bind 127.0.0.1:8099
"""
# The port is the API's own.
REACHING = """\
core.register_action("call", { "http-req" }, function(txn)
    local tcp = core.tcp()
    tcp:settimeout(1)
    txn:set_var("txn.connected", tostring(tcp:connect("127.0.0.1", 5555)))
end)
"""
EXPLAINED = """\
global
    lua-load /etc/haproxy/general/reaching.lua

frontend site
    mode http
    timeout client 5s
    bind :80
    http-request lua.call
    http-request set-var(txn.reached) var(txn.connected)
    http-request deny
"""


@pytest.fixture(scope="module", params=suites())
def machine(request: pytest.FixtureRequest, deb: Path, wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    log, binds = tmp_path_factory.mktemp("machine") / "boot.log", {"/srv/package": deb.parent, "/srv/wheels": wheels}
    with Machine(request.param, log, binds) as running:
        yield running


def ask(machine: Machine, path: str, *words: str, kind: str = "application/json") -> str:
    """Send a request as the first user, and return body and status."""
    password = "$(cat /etc/dataplaneapi/first-password)"
    more = " ".join(words)
    return machine.run(f"curl -s -w '%{{http_code}} ' -H 'Content-Type: {kind}' -u admin:{password} {more} '{BASE}/{path}'")


def since_last_start(machine: Machine) -> str:
    return machine.run("journalctl --no-pager -o cat _SYSTEMD_INVOCATION_ID=$(systemctl show --value -p InvocationID dataplaneapi)")


def test_it_installs_and_starts(machine: Machine, deb: Path) -> None:
    before = machine.run("cat /etc/haproxy/haproxy.cfg")
    output = machine.run(f"apt-get install -y --no-install-recommends /srv/package/{deb.name}")
    assert "the password of its first user, admin, is in /etc/dataplaneapi/first-password" in output
    assert machine.run("systemctl is-active dataplaneapi; systemctl is-enabled dataplaneapi dataplaneapi.socket || true").split() == [
        "active",
        "enabled",
        "disabled",
    ]
    assert machine.run("cat /etc/haproxy/haproxy.cfg") == before
    assert machine.run("dataplaneapi --version").startswith("HAProxy Data Plane API v")
    secret = machine.run("cat /etc/dataplaneapi/first-password")
    assert secret not in output
    assert "unsafe path transition" not in output
    assert machine.run("stat -c '%U:%G' /etc/haproxy/haproxy.cfg") == "dataplaneapi:dataplaneapi"
    assert machine.run("cd /etc/dataplaneapi && stat -c '%U %a' users first-password").split("\n") == ["root 600", "root 600"]


def test_it_changes_haproxy(machine: Machine) -> None:
    machine.run("cat /usr/share/doc/dataplaneapi/examples/haproxy.default >> /etc/default/haproxy && systemctl restart haproxy")
    assert ask(machine, "configuration/version") == "1\n200"
    answer = ask(machine, "configuration/backends?version=1&force_reload=true", "-d", '\'{"name": "made"}\'')
    assert answer.endswith("201"), answer
    assert "backend made" in machine.run("cat /etc/haproxy/haproxy.cfg")


@pytest.mark.skipif(not sandbox.version(), reason="this kernel has no Landlock")
def test_a_check_writes_nothing(machine: Machine) -> None:
    """Landlock works within the unit, although its filter of system calls and namespaces could prevent it."""
    machine.write("/etc/haproxy/general/escaping.lua", ESCAPING)
    machine.write("/tmp/pushed.cfg", PUSHED)
    machine.run("runuser -u dataplaneapi -- haproxy -c -f /tmp/pushed.cfg && rm /etc/haproxy/written")
    answer = ask(machine, "configuration/raw?skip_version=true", "--data-binary @/tmp/pushed.cfg", kind="text/plain")
    assert answer.endswith("400"), answer
    assert "kept in: /etc/haproxy/written: Permission denied" in answer
    assert machine.ask("ls /etc/haproxy/written").returncode != 0
    machine.run("rm /etc/haproxy/general/escaping.lua")


def test_a_shadow_runs_without_a_network(machine: Machine) -> None:
    machine.write("/etc/haproxy/general/reaching.lua", REACHING)
    machine.write("/tmp/question.json", json.dumps({"url": "http://a/", "config": EXPLAINED}))
    answer, status = ask(machine, "../../sidecar/explain", "-d @/tmp/question.json").rsplit(maxsplit=1)
    assert status == "200", answer
    found = json.loads(answer)
    assert (found["status"], found["variables"]) == (403, {"txn.reached": "nil"})
    machine.run("rm /etc/haproxy/general/reaching.lua")


def test_what_clients_store_is_no_program(machine: Machine) -> None:
    inside = "nsenter --mount --target $(systemctl show --property MainPID --value dataplaneapi)"
    for directory in ("/etc/haproxy", "/var/lib/dataplaneapi", "/tmp", "/var/tmp"):
        assert "noexec" in machine.run(f"{inside} findmnt --noheadings --output OPTIONS --target {directory}"), directory


def test_a_service_that_may_not_confine_says_so(machine: Machine) -> None:
    drop_in = "/etc/systemd/system/dataplaneapi.service.d/filter.conf"
    assert "not confined" not in since_last_start(machine) or not sandbox.version()
    machine.write(drop_in, "[Service]\nSystemCallFilter=~landlock_create_ruleset\n")
    machine.restart()
    assert "/usr/sbin/haproxy -c is not confined: it may change files, since this process may not use Landlock" in since_last_start(machine)
    machine.run(f"rm {drop_in}")
    machine.restart()


def test_a_unit_follows_a_directory(machine: Machine) -> None:
    """The unit has a password that only root can read, a map for the text, and writes the outcome into its directory."""
    machine.run("mkdir -p -m 700 /etc/dataplaneapi/follow/shop && mkdir -p /srv/shop/maps && echo '/a one' > /srv/shop/maps/shop.map")
    machine.run("cp /etc/dataplaneapi/first-password /etc/dataplaneapi/follow/shop/password")
    environment = [
        "SOURCE=/srv/shop",
        "OPTIONS=--owner shop --status /var/lib/dataplaneapi-follow/shop/status",
        "DATAPLANECTL_URL=http://127.0.0.1:5555",
        "DATAPLANECTL_USER=admin",
        "DATAPLANECTL_PASSWORD_FILE=/run/credentials/dataplaneapi-follow@shop.service/follow_password",
    ]
    for line in environment:
        machine.run(f"echo '{line}' >> /etc/dataplaneapi/follow/shop/env")
    declare(machine, "roundrobin")
    machine.run("systemctl start dataplaneapi-follow@shop")
    followed(machine, "balance roundrobin")
    applied(machine)
    assert "/a one" in machine.run("find /etc/haproxy -name shop.map -exec cat {} +")
    declare(machine, "leastconn")
    followed(machine, "balance leastconn")
    assert machine.run("systemctl is-active dataplaneapi-follow@shop") == "active"
    machine.run("systemctl stop dataplaneapi-follow@shop")


def applied(machine: Machine) -> None:
    """Return the outcome, which is written after the reload."""
    status = "/var/lib/private/dataplaneapi-follow/shop/status"
    machine.run(f'for i in $(seq 60); do grep -qs \'"outcome": "applied"\' {status} && exit 0; sleep 1; done; cat {status}; exit 1')


def declare(machine: Machine, algorithm: str) -> None:
    machine.run(f"echo 'backends: [{{name: shop, balance: {{algorithm: {algorithm}}}}}]' > /srv/shop/shop.yaml")


def followed(machine: Machine, line: str) -> None:
    waiting = f"for i in $(seq 60); do grep -q '{line}' /etc/haproxy/haproxy.cfg && exit 0; sleep 1; done"
    machine.run(f"{waiting}; journalctl --no-pager -n 20 -u dataplaneapi-follow@shop; exit 1")


def test_reload_by_systemctl_needs_its_rule(machine: Machine) -> None:
    machine.run(f"cp {SETTINGS} /root/settings && sed -i 's/master_worker_mode: true/master_worker_mode: false/' {SETTINGS}")
    machine.run(f"sed -i 's/reload_strategy: custom/reload_strategy: custom\\n    reload_cmd: systemctl reload haproxy/' {SETTINGS}")
    machine.restart()
    version = ask(machine, "configuration/version").split()[0]
    refused = ask(machine, f"configuration/backends?version={version}&force_reload=true", "-d", '\'{"name": "refused"}\'')
    assert "authentication required" in refused
    assert "backend refused" not in machine.run("cat /etc/haproxy/haproxy.cfg")
    machine.run(
        "cp /usr/share/doc/dataplaneapi/examples/haproxy-reload.rules /etc/polkit-1/rules.d/60-dataplaneapi.rules; systemctl restart polkit"
    )
    version = ask(machine, "configuration/version").split()[0]
    answer = ask(machine, f"configuration/backends?version={version}&force_reload=true", "-d", '\'{"name": "allowed"}\'')
    assert answer.endswith("201"), answer
    assert "backend allowed" in machine.run("cat /etc/haproxy/haproxy.cfg")
    machine.run(f"cat /root/settings > {SETTINGS}")
    machine.restart()


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        ("sed -i 's/^haproxy:/haproxy:\\n  reload_delay: 9/' FILE", "did you mean haproxy.reload.reload_delay?"),
        ("sed -i 's/spoe_transaction_dir/spoe_transactions_dir/' FILE", "did you mean dataplaneapi.resources.spoe_transaction_dir?"),
    ],
    ids=["a key at the wrong level", "a misspelt key"],
)
def test_a_mistake_in_the_settings_is_told(machine: Machine, mistake: str, said: str) -> None:
    machine.run(mistake.replace("FILE", SETTINGS))
    machine.restart()
    assert said in since_last_start(machine)
    assert ask(machine, "configuration/version").endswith("200")
    machine.run(f"cat /root/settings > {SETTINGS}")


def test_directories_of_somebody_else(machine: Machine) -> None:
    """Features with state in these directories are off, which is reported. Everything else works."""
    machine.run("chown -R root:root /etc/haproxy/maps /etc/haproxy/dataplane")
    machine.restart()
    journal = since_last_start(machine)
    for name in ("maps", "dataplane"):
        assert f"/etc/haproxy/{name} belongs to root:root, mode 0750, and this process runs as dataplaneapi" in journal
    assert ask(machine, "configuration/version").endswith("200")
    assert "belongs to root:root" in ask(machine, "storage/maps")
    machine.run("chown -R dataplaneapi:dataplaneapi /etc/haproxy/maps /etc/haproxy/dataplane")
    machine.restart()
    assert ask(machine, "storage/maps").endswith("200")


def test_the_settings_given_as_the_configuration(machine: Machine) -> None:
    unit = f"[Service]\\nExecStart=\\nExecStart=dataplaneapi --config-file {SETTINGS}"
    directory = "/etc/systemd/system/dataplaneapi.service.d"
    machine.run(f"mkdir -p {directory} && printf '{unit}\\n' > {directory}/mistake.conf && systemctl daemon-reload")
    machine.restart()
    assert f"is used as -f {SETTINGS}" in since_last_start(machine)
    assert ask(machine, "configuration/version").endswith("200")
    machine.run(f"rm -r {directory} && systemctl daemon-reload")


def test_sockets_of_systemd_instead(machine: Machine) -> None:
    machine.run("systemctl stop dataplaneapi && systemctl enable --now dataplaneapi.socket")
    assert ask(machine, "configuration/version").endswith("200")
    assert "handed over" not in since_last_start(machine)
    local = "/etc/systemd/system/dataplaneapi.service.d"
    machine.run(f"install -Dm644 /usr/share/doc/dataplaneapi/examples/local-only.conf {local}/local-only.conf && systemctl daemon-reload")
    machine.restart()
    assert ask(machine, "configuration/version").endswith("200"), "also without a network"


@pytest.mark.parametrize("user", ["root", "dataplaneapi"])
def test_the_doctor_finds_it_well(machine: Machine, user: str) -> None:
    output = machine.run(f"runuser -u {user} -- dataplaneapi doctor")
    assert re.findall(r"^(?:warning|error) (?!.*sandbox:).*", output, re.MULTILINE) == []
    for program in ("haproxy checks every change", "kill is how systemctl reloads the server"):
        assert re.search(rf"^ok +programs: /\S+/{program}$", output, re.MULTILINE), output
    assert not sandbox.version() or "haproxy -c is confined by Landlock" in output


def test_another_python_gets_its_byte_code(machine: Machine) -> None:
    """dpkg compiles the byte code again after an upgrade of Debian."""
    running = "systemctl show --value -p MainPID dataplaneapi"
    machine.run("find /usr/lib/dataplaneapi -name __pycache__ -type d -exec rm -r {} +")
    before = machine.run(running)
    machine.run("dpkg-trigger --no-await --by-package=python3-minimal /usr/bin/python3 && dpkg --triggers-only --pending")
    tag = machine.run("python3 -c 'import sys; print(sys.implementation.cache_tag)'")
    machine.run(f"test -f /usr/lib/dataplaneapi/dataplaneapi/__pycache__/cli.{tag}.pyc && systemctl is-active dataplaneapi")
    assert machine.run(running) != before


def test_it_is_removed_and_purged(machine: Machine) -> None:
    before = machine.run("cat /etc/haproxy/haproxy.cfg")
    machine.run("apt-get remove -y dataplaneapi")
    assert machine.ask("systemctl is-active dataplaneapi").stdout.strip() == "inactive"
    machine.run("apt-get purge -y dataplaneapi")
    assert machine.ask("ls /etc/dataplaneapi /usr/lib/dataplaneapi").stdout == ""
    assert machine.run("cat /etc/haproxy/haproxy.cfg; systemctl is-active haproxy") == f"{before}\nactive"


def test_nothing_was_left_running(machine: Machine) -> None:
    done = subprocess.run(machine.enter("pgrep", "-u", "dataplaneapi"), capture_output=True, text=True, check=False)
    assert done.stdout == ""


def test_by_hand_as_the_guide_says(machine: Machine) -> None:
    """Run every command of the section in the guide, and then use the sockets of systemd."""
    guide = (CHECKOUT / "docs/install.md").read_text()
    by_hand, sockets = (re.search(rf"^## {title}.*?^```sh\n(.*?)^```", guide, re.MULTILINE | re.DOTALL) for title in ("By hand", "Sockets"))
    assert by_hand
    assert sockets
    machine.run("sed -i /EXTRAOPTS=.-S/d /etc/default/haproxy; rm -rf /etc/systemd/system/dataplaneapi.service.d; systemctl daemon-reload")
    typed = by_hand[1].replace("$(openssl passwd -5)", "$(openssl passwd -5 typed)")
    machine.run(f"set -e; export PIP_NO_INDEX=1 PIP_FIND_LINKS=/srv/wheels; cd /srv/wheels\n{typed}")
    asked = f"curl -s -u admin:typed '{BASE}/configuration/version'"
    assert machine.run(asked).isdigit()
    machine.run(f"set -e\n{sockets[1]}")
    assert machine.run(asked).isdigit()
    assert machine.run("systemctl is-active dataplaneapi.socket") == "active"
