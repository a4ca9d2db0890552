"""Query the DNS for the zone of a name, and for a TXT record on the zone's own name servers."""

import asyncio
from typing import Any

PUBLIC = ("8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1")
SECONDS = 10.0


class Unresolved(Exception):
    """Raised if the DNS gives no answer. The text is for the operator."""


def last_labels(name: str) -> str:
    """Return the last two labels of a name, which are used as its zone if the DNS is not queried."""
    return ".".join(name.rstrip(".").split(".")[-2:])


class Zones:
    """Queries the DNS through `resolver`, by default the system's resolvers. `port`: the port of the zones' own name servers."""

    def __init__(self, resolver: Any = None, port: int = 53) -> None:
        self._resolver, self.port = resolver, port

    async def find_zone(self, name: str) -> str:
        """Return the closest zone that contains a name and has an SOA record. Raises Unresolved."""
        import dns.asyncresolver
        import dns.exception

        try:
            zone = await dns.asyncresolver.zone_for_name(name, resolver=self._open_resolver())
        except (dns.exception.DNSException, OSError) as error:
            raise Unresolved(f"no zone found for {name}: {error}") from error
        return str(zone).rstrip(".")

    async def has_record(self, zone: str, name: str, value: str) -> bool:
        """Return whether a name server of the zone has the TXT record, directly or behind one CNAME. Raises Unresolved."""
        import dns.exception
        import dns.name
        import dns.rdatatype

        target = dns.name.from_text(name)
        try:
            resolver = self._open_resolver()
            servers = await resolver.resolve(zone, "NS")
            addresses = [address for server in servers for address in (await resolver.resolve_name(server.target)).addresses()]
            answers = await asyncio.gather(*(self._query_server(target, address) for address in addresses))
        except (dns.exception.DNSException, OSError) as error:
            raise Unresolved(f"{zone}: {error}") from error
        for answer in filter(None, answers):
            texts = [text for rows in answer.answer if rows.rdtype == dns.rdatatype.TXT for row in rows for text in [b"".join(row.strings)]]
            if value.encode() in texts:
                return True
            if alias := next((rows[0].target for rows in answer.answer if rows.rdtype == dns.rdatatype.CNAME), None):
                try:
                    rows = await resolver.resolve(alias, "TXT")
                except dns.exception.DNSException:
                    return False
                return any(b"".join(row.strings) == value.encode() for row in rows)
        return False

    async def _query_server(self, name: Any, server: str) -> Any:
        import dns.asyncquery
        import dns.exception
        import dns.message

        try:
            answer, _ = await dns.asyncquery.udp_with_fallback(dns.message.make_query(name, "TXT"), server, timeout=SECONDS, port=self.port)
        except (dns.exception.DNSException, OSError):
            return None
        return answer

    def _open_resolver(self) -> Any:
        """Return the resolver. Uses public resolvers if the system has none. Raises Unresolved if dnspython is missing."""
        try:
            import dns.asyncresolver
            import dns.resolver
        except ImportError:
            raise Unresolved("dnspython is not installed; install this server with its extra `acme`") from None
        if self._resolver is None:
            try:
                self._resolver = dns.asyncresolver.Resolver()
            except dns.resolver.NoResolverConfiguration:
                self._resolver = dns.asyncresolver.Resolver(configure=False)
                self._resolver.nameservers = list(PUBLIC)
        return self._resolver
