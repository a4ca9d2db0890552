"""The environment of a check: the variables that HAProxy and its libraries read, and those that the text names, but none of this
server's own.
"""

import re
from collections.abc import Iterable, Mapping

# They would make a child HAProxy believe that it is a worker of the master that started us.
_OF_A_MASTER = r"HAPROXY_(?:STARTUPLOGS_FD|MWORKER_WAIT_ONLY|PROCESSES)"
# What the service manager and others entrust to this server.
_OWN = re.compile(
    rf"{_OF_A_MASTER}|NOTIFY_SOCKET|WATCHDOG_\w+|LISTEN_\w+|CREDENTIALS_DIRECTORY|INVOCATION_ID|JOURNAL_STREAM|MAINPID|SYSTEMD_\w+"
    r"|DBUS_\w+|SSH_\w+|SUDO_\w+|AWS_\w*(?:KEY|TOKEN)\w*|CONSUL_HTTP_TOKEN\w*|OTEL_\w*HEADERS|\w*CI_DATAPLANE\w*"
)
_LOOKED_AT = re.compile(
    r"PATH|TZ|TZDIR|LANG|LANGUAGE|LC_\w+|HOSTNAME|HAPROXY_\w+|LD_\w+|OPENSSL_\w+|SSL_CERT_\w+|LUA_\w+|RES_OPTIONS|LOCALDOMAIN|HOSTALIASES"
    r"|MALLOC_\w+|GLIBC_TUNABLES|ASAN_OPTIONS"
)
# In what a line that names a variable holds: ${V}, "$V", env(V), defined(V), presetenv and their like.
_SIGNS = (b"$", b"env", b"defined")
_NAME = re.compile(rb"[A-Za-z_]\w*")


def for_haproxy(environ: Mapping[str, str], texts: Iterable[bytes]) -> dict[str, str]:
    """Returns the variables that matter for these texts."""
    others = {name.encode() for name in environ if not _LOOKED_AT.fullmatch(name)}
    named = {name.decode() for text in texts for name in _named(text, others)}
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
