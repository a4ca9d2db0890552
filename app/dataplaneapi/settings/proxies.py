"""Determine the address of a client behind trusted proxies, which report it in X-Forwarded-For."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

# The address of a client that connects to a Unix socket.
UNIX = "unix"
FORWARDED_FOR = b"x-forwarded-for"
# The most addresses that are read from the header. They are the last ones.
_MOST_PROXIES = 32
# The length of the prefix ::ffff:0:0/96 in an IPv4-mapped IPv6 address, in bits.
_MAPPED_BITS = 96
Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


@dataclass(frozen=True)
class Proxies:
    """The proxies whose X-Forwarded-For is trusted."""

    networks: Sequence[Network] = ()
    # Whether the clients of Unix sockets are trusted proxies.
    unix: bool = False

    def client(self, peer: str, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """Return the address of the client. `peer` is the peer address of the connection, or UNIX.

        If the peer is a trusted proxy, return the last address in `X-Forwarded-For` that is not a trusted proxy. The client may have
        forged the addresses before it. If there is no such address, or an invalid one follows it, return the peer address.
        """
        if not self.unix and not self.networks:
            return peer if ":" not in peer else str(_parse_address(peer))
        own = None if peer == UNIX else _parse_address(peer)
        shown = UNIX if own is None else str(own)
        if not (self.unix if own is None else self._trusts(own)):
            return shown
        values = [value for name, value in headers if name == FORWARDED_FOR]
        for sent in reversed(b",".join(values).decode("latin-1").rsplit(",", _MOST_PROXIES)[-_MOST_PROXIES:]):
            address = _parse_forwarded_address(sent.strip())
            if address is None:
                return shown
            if not self._trusts(address):
                return str(address)
        return shown

    def _trusts(self, address: Address) -> bool:
        return any(address in network for network in self.networks)


def read_proxies(given: Iterable[str]) -> Proxies:
    """Parse networks and `unix`. Raises ValueError, which names the invalid text."""
    texts = list(given)
    try:
        return Proxies([network(text) for text in texts if text != UNIX], UNIX in texts)
    except ValueError as error:
        raise ValueError(f"{error}; expected a network such as 10.0.0.0/8, 192.0.2.7 or fd00::/8, or unix for Unix sockets") from None


@lru_cache(maxsize=4096)
def network(text: str) -> Network:
    """Parse a network. Convert an IPv4-mapped IPv6 network to IPv4. Raises ValueError."""
    given = ip_network(text)
    mapped = given.network_address.ipv4_mapped if isinstance(given, IPv6Network) and given.prefixlen >= _MAPPED_BITS else None
    return IPv4Network((mapped, given.prefixlen - _MAPPED_BITS)) if mapped else given


def _parse_forwarded_address(text: str) -> Address | None:
    """Parse an element of the header: an address with or without a port. Return None for anything else."""
    if text.startswith("["):
        text, bracket, port = text[1:].partition("]")
        is_port = bool(bracket) and (not port or (port.startswith(":") and _is_port(port[1:])))
    elif text.count(":") == 1:
        text, _, port = text.partition(":")
        is_port = _is_port(port) and "." in text
    else:
        is_port = True
    try:
        return _parse_address(text) if is_port and "%" not in text else None
    except ValueError:
        return None


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 5


@lru_cache(maxsize=4096)
def _parse_address(text: str) -> Address:
    """Parse an address. Convert an IPv4-mapped IPv6 address to IPv4. Raises ValueError."""
    address = ip_address(text)
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address
