"""Parses `acme status`: the certificates that HAProxy renews. Pure."""

from collections.abc import Iterator

HEAD = "# certificate"
COLUMNS = ("certificate", "acme_section", "state", "expiry_date", "expiries_in", "scheduled_renewal", "renewal_in")
DATES = ("expiry_date", "scheduled_renewal")
NEVER = "0001-01-01T00:00:00.000Z"


def certificates(text: str) -> Iterator[dict[str, str]]:
    """One object for each line, dates as the API tells them; what is not known is the zero date."""
    for line in text.splitlines():
        values = line.split("\t")
        if line.startswith("#") or len(values) < len(COLUMNS):
            continue
        yield {name: _date(value) if name in DATES else value for name, value in zip(COLUMNS, values, strict=False)}


def _date(text: str) -> str:
    return NEVER if text == "-" else text.removesuffix("Z") + ".000Z"
