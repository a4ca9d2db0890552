"""Parse HAProxy's ACME output: the challenges in its events, and the answer to `acme status`."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

TTL = 60
_QUOTED = re.compile(r'^([a-z0-9-]+) "((?:[^"\\]|\\.)*)"\s*$')
_VARIABLE = re.compile(r"((?:[^,\\]|\\.)*)(?:,|$)")


@dataclass(frozen=True)
class Challenge:
    """A TXT record that HAProxy wants in the DNS."""

    certificate: str
    domain: str
    provider: str
    # The provider's variables, from `acme-vars`.
    variables: Mapping[str, str]
    # The text of the TXT record.
    value: str
    # In seconds.
    ttl: int = TTL

    @property
    def name(self) -> str:
        """The full name of the record. A wildcard domain has the same record as the domain without `*.`."""
        return f"_acme-challenge.{self.domain.removeprefix('*.')}"


def parse_challenge(text: str) -> Challenge:
    """Parse the event `acme deploy`. Raises ValueError if a part is missing, and KeyError or TypeError if the JSON lacks a member."""
    head, brace, rest = text.partition("\n{")
    first, *lines = head.split("\n")
    words = first.split()
    fields: dict[str, str] = {}
    variables: dict[str, str] = {}
    for match in filter(None, map(_QUOTED.match, lines)):
        name = match[1].replace("-", "_")
        if name == "acme_vars":
            variables |= parse_pairs(_without_backslashes(match[2]))
        else:
            fields[name] = _without_backslashes(match[2])
    if len(words) < 3 or not brace:
        raise ValueError("no certificate, or no authorization")
    if missing := [name for name in ("provider_name", "dns_01_record") if not fields.get(name)]:
        raise ValueError(f"no {missing[0].replace('_', '-')}")
    domain = json.loads("{" + rest)["identifier"]["value"]
    ttl = variables.pop("ttl", "")
    seconds = int(ttl) if ttl.isdecimal() and int(ttl) else TTL
    return Challenge(words[2], str(domain), fields["provider_name"], variables, fields["dns_01_record"], seconds)


def parse_pairs(text: str) -> dict[str, str]:
    """Parse `k=v,k2=v2`. A comma in a value is written as `\\,`."""
    parts = (_without_backslashes(match[1]).partition("=") for match in _VARIABLE.finditer(text) if match[1])
    return {name.strip(): value for name, sign, value in parts if sign}


def _without_backslashes(text: str) -> str:
    return re.sub(r"\\([\\\",])", r"\1", text) if '"' in text or "\\" in text else text


HEAD = "# certificate"
COLUMNS = ("certificate", "acme_section", "state", "expiry_date", "expiries_in", "scheduled_renewal", "renewal_in")
DATES = ("expiry_date", "scheduled_renewal")
NEVER = "0001-01-01T00:00:00.000Z"


def parse_status(text: str) -> Iterator[dict[str, str]]:
    """Yield the columns of each line of the answer to `acme status`, with dates in the API's format. An unknown date is NEVER."""
    for line in text.splitlines():
        values = line.split("\t")
        if line.startswith("#") or len(values) < len(COLUMNS):
            continue
        row = dict(zip(COLUMNS, values, strict=False))
        for name in DATES:
            row[name] = NEVER if row[name] == "-" else row[name].removesuffix("Z") + ".000Z"
        yield row
