"""The environment of a check and of a shadow: the variables that HAProxy and its libraries read, and those that the configuration in
force names, but none of this server's own.

A text that is not in force yet may come from any user of the API, so it gets no variable by naming it.
"""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

# They would make a child HAProxy believe that it is a worker of the master that started us.
_OF_A_MASTER = r"HAPROXY_(?:STARTUPLOGS_FD|MWORKER_WAIT_ONLY|PROCESSES)"
# What the service manager and others entrust to this server.
_OWN = re.compile(
    rf"{_OF_A_MASTER}|NOTIFY_SOCKET|WATCHDOG_\w+|LISTEN_\w+|CREDENTIALS_DIRECTORY|INVOCATION_ID|JOURNAL_STREAM|MAINPID|SYSTEMD_\w+"
    r"|DBUS_\w+|SSH_\w+|SUDO_\w+|AWS_\w*(?:KEY|TOKEN)\w*|CONSUL_HTTP_TOKEN\w*|OTEL_\w*HEADERS|\w*CI_DATAPLANE\w*"
)
_LOOKED_AT = re.compile(
    r"PATH|TZ|TZDIR|LANG|LANGUAGE|LC_\w+|LD_LIBRARY_PATH|OPENSSL_\w+|SSL_CERT_\w+|LUA_C?PATH\w*|RES_OPTIONS|LOCALDOMAIN|HOSTALIASES"
    r"|MALLOC_\w+|GLIBC_TUNABLES"
)
# In what a line that names a variable holds: ${V}, "$V", env(V), defined(V), presetenv and their like.
_SIGNS = (b"$", b"env", b"defined")
_NAME = re.compile(rb"[A-Za-z_]\w*")


def for_haproxy(environ: Mapping[str, str], in_force: Iterable[Path]) -> dict[str, str]:
    """Return the variables that matter for these files, as far as they can be read. Blocks while it reads them."""
    others = {name.encode() for name in environ if not _LOOKED_AT.fullmatch(name)}
    named: set[str] = set()
    for path in in_force:
        # Anything but a file might have nothing to read for ever.
        with suppress(OSError):
            named |= {name.decode() for name in _named(path.read_bytes(), others)} if path.is_file() else set()
    return {name: value for name, value in for_a_command(environ).items() if name in named or _LOOKED_AT.fullmatch(name)}


def for_a_command(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment of an operator's own command: all but what is entrusted to this server."""
    return {name: value for name, value in environ.items() if not _OWN.fullmatch(name)}


def _named(text: bytes, names: set[bytes]) -> set[bytes]:
    """Which of the names stand in a line that may name a variable."""
    named: set[bytes] = set()
    for sign in _SIGNS:
        at = text.find(sign)
        while at >= 0 and len(named) < len(names):
            end = text.find(b"\n", at) % (len(text) + 1)
            named |= names.intersection(_NAME.findall(text, text.rfind(b"\n", 0, at) + 1, end))
            at = text.find(sign, end)
    return named
