"""Set and delete TXT records, with a program that the settings list or with dynamic updates of a name server (RFC 2136).

The `acme` section of the configuration names the provider. An editor of the configuration must not be able to run a program of their choice
on this server. Therefore `command` in `acme-vars` only selects one of the programs in the settings, and of this server's environment a
program inherits only PATH, HOME and the locale.
"""

import asyncio
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from haproxy_native.child import PIPE, Child, read

SECONDS = 60.0
MOST_SAID = 500
EXEC = "exec"
# What a program inherits of this server's environment.
_INHERITED = re.compile(r"PATH|HOME|LANG|LANGUAGE|LC_[A-Z]+")


class Provider(Protocol):
    """Sets and deletes TXT records of a zone. Both methods raise ProviderFailed."""

    async def set(self, zone: str, name: str, value: str, ttl: int) -> None: ...

    async def delete(self, zone: str, name: str, value: str, ttl: int) -> None: ...


class ProviderFailed(Exception):
    """Raised if a record cannot be set or deleted. The text is for the operator."""


class Exec:
    """Runs one of `programs`, without arguments or a shell. The program receives the action and the record in environment variables.

    The variable `command` in `acme-vars` selects the program. The variable is optional if there is only one program.
    """

    def __init__(self, variables: Mapping[str, str], programs: Sequence[str]) -> None:
        command = variables.get("command") or (programs[0] if len(programs) == 1 else "")
        if not command:
            raise ProviderFailed("acme-vars has no command=, and the setting acme_programs does not list exactly one program")
        if command not in programs:
            raise ProviderFailed(f"acme-vars names {command}, which the setting acme_programs does not list")
        self.command = command

    async def set(self, zone: str, name: str, value: str, ttl: int) -> None:
        await self._run("set", zone, name, value, ttl)

    async def delete(self, zone: str, name: str, value: str, ttl: int) -> None:
        await self._run("delete", zone, name, value, ttl)

    async def _run(self, action: str, zone: str, name: str, value: str, ttl: int) -> None:
        variables = {"ACTION": action, "ZONE": f"{zone}.", "REC_NAME": relative(name, zone), "REC_TTL": str(ttl)}
        inherited = {name: text for name, text in os.environ.items() if _INHERITED.fullmatch(name)}
        environment = {**inherited, **variables, "REC_TYPE": "TXT", "REC_DATA": value}
        try:
            child = Child([self.command], environment, stderr=PIPE)
        except OSError as error:
            raise ProviderFailed(f"{self.command}: {error.strerror}") from error
        assert child.stderr
        try:
            async with asyncio.timeout(SECONDS):
                output = await read(child.stderr, MOST_SAID)
                status = await child.wait()
        except TimeoutError:
            raise ProviderFailed(f"{self.command} {action}: not done within {SECONDS:g} s") from None
        finally:
            if not child.ended:
                await child.kill()
            child.close()
        if status:
            raise ProviderFailed(f"{self.command} {action}: exit status {status}: {output.strip()}")


class Rfc2136:
    """Sends dynamic updates to `server` by TCP, signed by `key` (base64), `key_name` and `key_alg` if `variables` has a `key`."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        if not variables.get("server"):
            raise ProviderFailed("rfc2136 needs the variable server in acme-vars")
        self.server, self.port = address(variables["server"])
        self.key_name, self.key = variables.get("key_name", ""), variables.get("key", "")
        self.algorithm = variables.get("key_alg") or "hmac-sha256"

    async def set(self, zone: str, name: str, value: str, ttl: int) -> None:
        await self._send(zone, lambda update: update.add(relative(name, zone), ttl, "TXT", f'"{value}"'))

    async def delete(self, zone: str, name: str, value: str, ttl: int) -> None:
        await self._send(zone, lambda update: update.delete(relative(name, zone), "TXT", f'"{value}"'))

    async def _send(self, zone: str, change: Callable[[Any], None]) -> None:
        try:
            import dns.asyncquery
            import dns.exception
            import dns.rcode
            import dns.tsigkeyring
            import dns.update
        except ImportError:
            raise ProviderFailed("dnspython is not installed; install this server with its extra `acme`") from None
        try:
            keyring = dns.tsigkeyring.from_text({self.key_name: self.key}) if self.key else None
            update = dns.update.UpdateMessage(zone, keyring=keyring, keyalgorithm=f"{self.algorithm.strip('.')}.")
            change(update)
            answer = await dns.asyncquery.tcp(update, self.server, port=self.port, timeout=SECONDS / 6)
        except (dns.exception.DNSException, OSError, ValueError, EOFError, KeyError) as error:
            raise ProviderFailed(f"{self.server} port {self.port}: {str(error) or type(error).__name__}") from error
        if answer.rcode() != dns.rcode.NOERROR:
            raise ProviderFailed(f"{self.server} port {self.port} refused the update of {zone}: {dns.rcode.to_text(answer.rcode())}")


def provider(name: str, variables: Mapping[str, str], programs: Sequence[str]) -> Provider:
    """Return the provider with a name. `programs`: those that EXEC may run. Raises ProviderFailed."""
    match name:
        case "exec":
            return Exec(variables, programs)
        case "rfc2136":
            return Rfc2136(variables)
    raise ProviderFailed(f"invalid DNS provider name: '{name}'; this server has exec, rfc2136")


def relative(name: str, zone: str) -> str:
    """Return a name relative to its zone; `@` for the zone itself."""
    return name.rstrip(".").removesuffix(zone.rstrip(".")).rstrip(".") or "@"


def address(server: str) -> tuple[str, int]:
    """Return host and port of `host`, `host:port`, `[::1]:port` or `::1`. The default port is 53."""
    host, colon, port = server.rpartition(":")
    if colon and port.isdecimal() and (":" not in host or host.endswith("]")):
        return host.strip("[]"), int(port)
    return server.strip("[]"), 53
