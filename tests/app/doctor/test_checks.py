"""What the doctor finds: beside a real HAProxy, and where each thing is wrong."""

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.auth import passwords
from dataplaneapi.doctor import checks as doctor
from dataplaneapi.doctor.finding import ERROR, NOTE, OK, WARNING, DoctorFinding
from dataplaneapi.host import credentials
from dataplaneapi.settings import yaml_file as settings_file
from dataplaneapi.settings.table import Settings
from haproxy_native import sandbox
from tests.app.client import CONFIGURATION, settings
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, ask, free_port
from tests.haproxy.sidecar import COMMAND, Sidecar
from tests.until import polls

NO_UNITS: tuple[Path, ...] = ()


@pytest.fixture
def sound(tmp_path: Path) -> Settings:
    given = replace(settings(tmp_path), haproxy_bin="haproxy")
    Path(given.config_file).write_text(CONFIGURATION)
    return given


def found(given: Settings, part: str) -> list[DoctorFinding]:
    return [each for each in doctor.findings(given, NO_UNITS) if each.part == part]


def worst(given: Settings, part: str) -> DoctorFinding:
    return max(found(given, part), key=lambda each: (OK, NOTE, WARNING, ERROR).index(each.level))


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False)


def test_a_sound_installation(sidecar: Sidecar) -> None:
    done = run("doctor", "--json", "-f", str(sidecar.file))
    findings = [DoctorFinding(**each) for each in json.loads(done.stdout)]
    assert [each for each in findings if each.level == ERROR] == []
    assert done.returncode == 0
    assert {"haproxy", "programs", "configuration", "directories", "sockets", "reloads", "users"} <= {
        each.part for each in findings if each.level == OK
    }
    assert any(str(sidecar.haproxy.master) in each.what for each in findings if each.part == "sockets")


def test_check_is_about_settings_and_configuration(sidecar: Sidecar) -> None:
    done = run("check", "-f", str(sidecar.file))
    assert (done.returncode, f"{sidecar.haproxy.file} is valid" in done.stdout, done.stderr) == (0, True, "")
    sidecar.haproxy.file.write_text("nonsense here\n")
    done = run("check", "-f", str(sidecar.file))
    assert (done.returncode, "unknown keyword 'nonsense'" in done.stdout) == (1, True)


WRONG: list[tuple[dict[str, Any], str, str, str]] = [
    (
        {"haproxy_bin": "/nowhere/haproxy"},
        "programs",
        "/nowhere/haproxy cannot be run: it reports",
        "apt-get install haproxy, or",
    ),
    ({"haproxy_bin": "/bin/true"}, "haproxy", "reports no version", "2.6"),
    ({"config_file": "/nowhere/haproxy.cfg"}, "configuration", "Cannot read /nowhere/haproxy.cfg", "haproxy.config_file"),
    ({"validate_cmd": "false"}, "configuration", "exit status 1", "changes are refused"),
    ({"users": []}, "users", "no users of the API", "dataplaneapi.user"),
    ({"maps_dir": "/etc/passwd/maps"}, "directories", "maps_dir /etc/passwd/maps cannot be used", "remove the file"),
    ({}, "sockets", "no socket", "master_runtime"),
    ({"master_runtime": "/nowhere/master.sock"}, "sockets", "/nowhere/master.sock", "group haproxy"),
    ({"reload_cmd": "/nowhere/reload it"}, "programs", "/nowhere/reload cannot be run", "name another one in haproxy.reload.reload_cmd"),
    ({"validate_cmd": "/nowhere/check 'it"}, "configuration", "not a command", ""),
    ({"validate_cmd": "/nowhere/check it"}, "programs", "/nowhere/check cannot be run", "haproxy.reload.validate_cmd"),
    ({"reload_cmd": "", "reload_strategy": "custom"}, "reloads", "ReloadCmd", ""),
]


@pytest.mark.parametrize(("changed", "part", "what", "remedy"), WRONG, ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_wrong_is_an_error_with_its_remedy(changed: dict[str, Any], part: str, what: str, remedy: str, sound: Settings) -> None:
    (error,) = (each for each in found(replace(sound, **changed), part) if what in each.what)
    assert error.level == ERROR
    assert remedy in error.remedy


def test_only_findings_are_printed(tmp_path: Path) -> None:
    """What the tried parts would log does not apply here: the unit may hand over what this user cannot read."""
    file = tmp_path / "dataplaneapi.yaml"
    file.write_text(f"config_version: 2\nname: t\nhaproxy: {{config_file: {tmp_path / 'haproxy.cfg'}}}\n")
    (tmp_path / "haproxy.cfg").write_text("")
    done = subprocess.run([str(COMMAND), "doctor", "-f", str(file)], capture_output=True, text=True, check=False)
    assert "there are no users of the API" in done.stdout and done.stderr == ""


def test_sections_whose_program_is_not_run(sound: Settings) -> None:
    file = Path(sound.config_file)
    file.write_text(
        file.read_text() + '\nacme le\n    directory https://a.example/dir\n    provider-name exec\n    acme-vars "command=/x"\n'
    )
    (finding,) = found(sound, "acme")
    assert (finding.level, "acme le: acme-vars names /x" in finding.what, "acme_programs" in finding.remedy) == (ERROR, True, True)
    assert not list(found(replace(sound, acme_programs=["/x"]), "acme"))


def test_users_that_the_unit_hands_over(sound: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nobody, file = replace(sound, users=[]), tmp_path / "users"
    monkeypatch.setattr(credentials, "UNIT_USERS", file)
    file.write_text("")
    assert worst(nobody, "users").level == ERROR, "an empty one stands for none"
    file.write_text("userlist controller\n    user admin insecure-password x\n")
    assert worst(nobody, "users") == DoctorFinding(OK, "users", "1")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "access", lambda path, mode, **more: path != file)
        assert worst(nobody, "users").level == NOTE


def test_passwords_in_clear_text_are_a_warning(sound: Settings) -> None:
    assert worst(sound, "users").level == WARNING


def test_a_settings_file_with_passwords_that_others_may_read(sound: Settings, tmp_path: Path) -> None:
    file = tmp_path / "dataplaneapi.yaml"
    file.write_text("config_version: 2\n")
    file.chmod(0o644)
    assert f"chmod 600 {file}" in worst(replace(sound, file=str(file)), "settings").remedy
    file.chmod(0o600)
    assert worst(replace(sound, file=str(file)), "settings").level == OK


@pytest.fixture
def mounted(sound: Settings, tmp_path: Path) -> Iterator[Settings]:
    """A configuration that is mounted by itself."""
    source = tmp_path / "source.cfg"
    source.write_text(CONFIGURATION)
    done = subprocess.run(["mount", "--bind", source, sound.config_file], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no bind mounts here: {done.stderr.strip()}")
    yield sound
    subprocess.run(["umount", sound.config_file], check=True)


def test_a_file_mounted_by_itself_is_told(mounted: Settings) -> None:
    assert any("in place, with a journal" in each.what for each in found(mounted, "file"))


def test_a_password_that_is_taken_for_a_hash(sound: Settings) -> None:
    """HAProxy's `password` is a hash; clear text there lets nobody in."""
    file = Path(sound.config_file)
    nobody = replace(sound, users=[])
    file.write_text(CONFIGURATION + "\nuserlist controller\n  user admin password adminpwd\n")
    error = worst(nobody, "users")
    assert (error.level, "no login is possible as admin" in error.what) == (ERROR, True)
    assert "insecure-password" in error.remedy
    assert OK not in [each.level for each in found(nobody, "users")]
    file.write_text(file.read_text() + f"  user second password {passwords.hashed('x', '$5$salt')}\n")
    assert {each.level for each in found(nobody, "users")} == {WARNING, OK}


def test_a_port_of_chance(sound: Settings) -> None:
    assert "http gets another port" in worst(sound, "listeners").what
    assert "dataplaneapi.port: 5555" in worst(sound, "listeners").remedy
    assert found(replace(sound, port=5555), "listeners") == []
    assert "tls_key" in worst(replace(sound, scheme=["https"], tls_certificate="/c"), "listeners").what.replace("tls-key", "tls_key")


def test_units_that_stand_in_the_way(sound: Settings, tmp_path: Path) -> None:
    etc, lib = tmp_path / "etc", tmp_path / "lib"
    for place in (etc / "multi-user.target.wants", lib):
        place.mkdir(parents=True)
    (lib / "dataplaneapi.service").write_text("[Service]\nExecStart=/usr/bin/dataplaneapi\nPrivateTmp=yes\n")
    (lib / "old.service").write_text("[Service]\nExecStart=-/opt/bin/dataplaneapi --port 5555\n")
    (etc / "multi-user.target.wants" / "old.service").symlink_to(lib / "old.service")
    given = replace(sound, config_file="/nowhere/haproxy.cfg", master_runtime="/tmp/master.sock", maps_dir="/etc/maps")
    given = replace(given, ssl_certs_dir="/etc/s", general_storage_dir="/etc/g", spoe_dir="/etc/p", reload_cmd="sh /var/tmp/reload")
    texts = [str(each) for each in doctor.check_units(given, (etc, lib))]
    assert len(texts) == 3
    assert f"{lib}/old.service starts another server" in texts[0]
    assert "systemctl disable --now old.service" in texts[0]
    assert "so it cannot see /tmp/master.sock" in texts[1]
    assert "so it cannot see /var/tmp/reload" in texts[2]
    (etc / "dataplaneapi.service.d").mkdir()
    (etc / "dataplaneapi.service.d" / "own.conf").write_text("[Service]\nPrivateTmp=no\n")
    assert len(list(doctor.check_units(given, (etc, lib)))) == 1


def test_corrected_settings_are_written_beside_the_old(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    text = (
        "# ours\ndataplaneapi:\n  prot: 5556\n  user:\n    - name: admin\n      password: secret1\n      insecure: true\n"
        "transaction:\n  transaction_dir: /var/t  # kept\nhaproxy:\n  config_file: /nowhere\n  resources:\n    maps_dir: /m\n"
    )
    file.write_text(text)
    done = run("doctor", "--fix", "-f", str(file))
    beside = tmp_path / "own.yaml.fixed"
    data = settings_file.read(str(beside))
    assert (data["dataplaneapi"]["port"], data["dataplaneapi"]["resources"], data["dataplaneapi"]["transaction"]) == (
        5556,
        {"maps_dir": "/m"},
        {"transaction_dir": "/var/t"},
    )
    (user,) = data["dataplaneapi"]["user"]
    assert passwords.verify("secret1", user["password"], clear=False)
    assert list(settings_file.unknown(data)) == []
    assert (file.read_text(), beside.stat().st_mode & 0o777) == (text, 0o600)
    assert "+  port: 5556" in done.stdout
    assert "secret1" not in done.stdout
    assert "# kept" in beside.read_text()
    done = run("doctor", "--fix", "-f", str(beside))
    assert "can be corrected automatically" in done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to give a directory away")
def test_root_looks_at_directories_of_the_service(sound: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = Path(sound.transaction_dir)
    directory.mkdir(parents=True, exist_ok=True)
    os.chown(directory, 65534, 65534)
    assert "belongs to another user" in " ".join(each.what for each in doctor.findings(sound, NO_UNITS))
    monkeypatch.setattr("dataplaneapi.doctor.checks.UNIT_USER", "nobody")
    assert "belongs to another user" not in " ".join(each.what for each in doctor.findings(sound, NO_UNITS))


def test_overrides_that_a_new_worker_begins_with(sound: Settings, tmp_path: Path) -> None:
    file, states = Path(sound.config_file), tmp_path / "states"
    assert "no server-state file" in worst(sound, "overrides").what

    def write(place: Path, word: str) -> DoctorFinding:
        text = (
            f"global\n  server-state-file {place}\ndefaults d\n  load-server-state-from-file {word}\nbackend a from d\nbackend b from d\n"
        )
        file.write_text(text)
        return worst(sound, "overrides")

    assert write(states, "global") == DoctorFinding(OK, "overrides", f"a new worker loads the states of its servers from {states}")
    assert "servers of a and of 1 others" in write(states, "none").what
    assert "cannot be replaced" in write(tmp_path / "missing" / "states", "global").what


def test_what_confines_a_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "haproxy"
    script.write_text("#!/bin/sh\necho HAProxy version 3.2.1\n")
    script.chmod(0o755)
    scripted = replace(settings(tmp_path), haproxy_bin=str(script), validate_cmd="")
    monkeypatch.setattr(sandbox, "missing_confinement", lambda: ["it may change files"])
    for given, words in (
        (scripted, ["-c is not confined: it may change files; ", "is a script"]),
        (replace(scripted, validate_cmd="check"), ["validate_cmd is not confined"]),
    ):
        finding = worst(given, "sandbox")
        assert finding.level == WARNING and all(each in finding.what for each in words)
    program = replace(scripted, haproxy_bin=binaries.exactly("2.8"))
    assert worst(program, "sandbox").what.endswith("is not confined: it may change files")
    monkeypatch.setattr(sandbox, "missing_confinement", list)
    assert worst(program, "sandbox").level == OK


TAKEN = "\nfrontend taken\n  bind 127.0.0.1:{port}\n"


def reload_in_vain(haproxy: HAProxy, text: str) -> None:
    """A reload with a port that is taken: HAProxy's check accepts it, and the new worker cannot listen on it."""
    with socket.create_server(("127.0.0.1", port := free_port())):
        haproxy.file.write_text(text + TAKEN.format(port=port))
        # The master of 2.6 re-executes itself, and closes the connection.
        with suppress(ConnectionResetError):
            ask(str(haproxy.master), "reload")
        for _ in polls("the reload does not fail"):
            with suppress(OSError, IndexError):
                if "[failed: " in ask(str(haproxy.master), "show proc"):
                    return


def test_a_failed_reload_is_told_with_its_cause_until_the_next_success(haproxy: HAProxy, tmp_path: Path) -> None:
    """Since 3.1 the worker that ends may leave a socket behind that nobody listens on."""
    given = replace(settings(tmp_path), config_file=str(haproxy.file), haproxy_bin=haproxy.binary, master_runtime=str(haproxy.master))
    text = haproxy.file.read_text()
    assert worst(given, "reloads").level == OK and worst(given, "sockets").level == OK
    reload_in_vain(haproxy, text)
    finding = worst(given, "reloads")
    assert finding.level == ERROR and finding.what.startswith("the last reload failed: ") and "former worker still runs" in finding.what
    cause = "the reason is in HAProxy's log" if haproxy.version < (2, 7) else "cannot bind socket (Address already in use)"
    assert cause in finding.what and "then reload: dataplaneapi ctl reload" in finding.remedy
    assert worst(given, "sockets").level in (OK, WARNING)

    good = haproxy.file.with_name(f"{haproxy.file.name}.lkg")
    good.write_text(f"# _version=7\n{text}")
    haproxy.file.write_text(f"# _version=9\n{text}")
    finding = worst(given, "reloads")
    assert (finding.level, "put the text that HAProxy runs back" in finding.remedy) == (WARNING, True), finding
    with suppress(ConnectionResetError):
        ask(str(haproxy.master), "reload")
    for _ in polls("the reload does not succeed"):
        if worst(given, "reloads").level == OK:
            break
    assert worst(given, "sockets").level == OK


def test_a_socket_that_a_worker_left_behind(tmp_path: Path) -> None:
    """Its remedy depends on whether the master says that a reload has failed; without a master's socket, nothing says it."""
    left = tmp_path / "left.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(left))
    given = replace(settings(tmp_path), haproxy_bin="haproxy")
    Path(given.config_file).write_text(f"global\n  stats socket {left} level admin\n")
    finding = worst(given, "sockets")
    assert finding.what == f"worker's socket: {left}: nothing listens there"
    assert finding.remedy == "start haproxy. If it runs, its last reload has failed: correct what its log names, then reload it"


def test_a_worker_that_did_not_start_had_replaced_the_socket(haproxy: HAProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = tmp_path / "left.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(left))
    reload_in_vain(haproxy, haproxy.file.read_text())
    monkeypatch.setattr(doctor.open_engine, "stats_sockets_in", lambda files, unit: [str(left)])
    given = replace(settings(tmp_path), config_file=str(haproxy.file), haproxy_bin=haproxy.binary, master_runtime=str(haproxy.master))
    finding = worst(given, "sockets")
    assert finding.level == WARNING and f"nothing listens on {left} any more" in finding.what, finding
