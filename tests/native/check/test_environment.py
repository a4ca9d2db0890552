"""What of the variables a check gets."""

from pathlib import Path

import pytest

from haproxy_native.check.run import command_environment, haproxy_environment

KEPT = {"PATH": "/bin", "TZ": "UTC", "LC_ALL": "C", "LUA_PATH_5_4": "/lua/?.lua", "LD_LIBRARY_PATH": "/lib"}
NEVER = {
    "NOTIFY_SOCKET": "/run/n",
    "CREDENTIALS_DIRECTORY": "/run/c",
    "AWS_SECRET_ACCESS_KEY": "s",
    "LISTEN_FDS": "1",
    "HAPROXY_MWORKER_WAIT_ONLY": "1",
}
OTHERS = {"SECRET": "s", "PORT": "80", "A_B": "x", "HAPROXY_X": "1", "LD_PRELOAD": "/x.so"}
ALL = KEPT | NEVER | OTHERS


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (b"global\n  maxconn 10 # PORT and SECRET\n", []),
        (b"bind :${PORT}\n", ["PORT"]),
        (b'bind ":$PORT"\n', ["PORT"]),
        (b'bind ":${A_B-$x}" # PORT is in the same line\n', ["A_B", "PORT"]),
        (b"http-request set-header x %[env(SECRET)]\n", ["SECRET"]),
        (b'.if defined(A_B) && streq("$PORT",80)\n', ["A_B", "PORT"]),
        (b"a\n  presetenv PORT 90\n  setenv A_B x\nresetenv SECRET", ["A_B", "PORT", "SECRET"]),
        (b"x ${NOTIFY_SOCKET} ${AWS_SECRET_ACCESS_KEY} ${CREDENTIALS_DIRECTORY}", []),
        (b"$" * 10_000 + b"\nPORT", []),
        (b"", []),
    ],
)
def test_what_the_configuration_in_force_names(tmp_path: Path, text: bytes, named: list[str]) -> None:
    (tmp_path / "haproxy.cfg").write_bytes(text)
    in_force = [tmp_path / "missing", tmp_path, tmp_path / "haproxy.cfg"]
    assert haproxy_environment(ALL, in_force) == KEPT | {name: OTHERS[name] for name in named}


def test_a_command_gets_all_that_is_not_the_servers_own() -> None:
    assert command_environment(ALL) == KEPT | OTHERS
