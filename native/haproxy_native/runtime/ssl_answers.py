"""Parses HAProxy's answers about certificates, CA files, CRL files and crt-lists to the API's objects.

HAProxy Management Guide, section 9.3, `show ssl cert|ca-file|crl-file|crt-list`; measured on 2.6 to 3.2.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

_DATE = "%b %d %H:%M:%S %Y %Z"
# The label of a line, and the member of the API's ssl_certificate that it is.
_MEMBERS = {
    "Filename": "storage_name",
    "Crt filename": "file",
    "Status": "status",
    "Serial": "serial",
    "notBefore": "not_before",
    "notAfter": "not_after",
    "Subject Alternative Name": "subject_alternative_names",
    "Algorithm": "algorithm",
    "SHA1 FingerPrint": "sha1_finger_print",
    "Subject": "subject",
    "Issuer": "issuers",
    "Chain Subject": "chain_subject",
    "Chain Issuer": "chain_issuer",
}
# HAProxy tells them of each certificate of a chain; the reference answers with those of the last.
_OF_THE_LAST = ("chain_subject", "chain_issuer")
_ENTRY = re.compile(r"(?P<file>\S+?):(?P<line>\d+)(?: \[(?P<options>[^\]]*)\])?(?P<filters>.*)")


@dataclass(frozen=True)
class CrtListRow:
    """A row of `show ssl crt-list -n`; `line` is the number by which HAProxy deletes it, 0 in a directory."""

    file: str
    line: int
    options: str = ""
    filters: tuple[str, ...] = ()

    def as_object(self) -> dict[str, Any]:
        """The API's ssl_crt_list_entry."""
        members = {"file": self.file, "line_number": self.line, "ssl_bind_config": self.options, "sni_filter": list(self.filters)}
        return {name: value for name, value in members.items() if value}


def names(text: str) -> list[str]:
    """Parses `show ssl cert` and `show ssl crl-file`: what is loaded, without what a transaction holds."""
    return [row.removeprefix("\\") for row in _committed(text)]


def open_transaction(text: str) -> str:
    """The file of the open transaction, which another client may have left; empty without one."""
    rows = text.splitlines()
    return rows[rows.index("# transaction") + 1].removeprefix("*").partition(" - ")[0] if "# transaction" in rows[:-1] else ""


def ca_files(text: str) -> list[dict[str, Any]]:
    """The API's ssl_ca_file for each row of `show ssl ca-file`."""
    return [{"storage_name": name, "count": count} for name, _, count in (row.rpartition(" - ") for row in _committed(text)) if name]


def lists(text: str) -> list[str]:
    """The names of `show ssl crt-list`: files, directories, and `@frontend` for the ssl-f-use lines of one."""
    return _rows(text)


def entries(text: str) -> list[CrtListRow]:
    """`show ssl crt-list -n LIST`; HAProxy leaves a NUL behind the value of alpn."""
    matches = (_ENTRY.fullmatch(row.rstrip()) for row in _rows(text.replace("\0", "")))
    return [
        CrtListRow(match["file"], int(match["line"]), " ".join((match["options"] or "").split()), tuple(match["filters"].split()))
        for match in matches
        if match
    ]


def certificate(text: str) -> dict[str, Any]:
    """The API's ssl_certificate of `show ssl cert NAME`, and of the first of `show ssl ca-file NAME:INDEX`; empty where there is none.

    `file` only where HAProxy has another name for it, as in a crt-store.
    """
    members: dict[str, Any] = {}
    # It stops at the kind of an Ed25519 key, without an end of the line.
    for row in text.replace("Algorithm: OCSP", "OCSP").splitlines():
        label, sign, value = row.partition(": ")
        member = _MEMBERS.get(label) if sign else None
        if member and value and (member not in members or member in _OF_THE_LAST):
            members[member] = _date_time(value) if member.startswith("not_") else value
    if members.get("file") == members.get("storage_name"):
        members.pop("file", None)
    return members if "serial" in members or members.get("status") == "Empty" else {}


def revocation_lists(text: str) -> list[dict[str, Any]]:
    """The API's ssl_crl_entry for each list of `show ssl crl-file NAME`."""
    head, *parts = re.split(r"^Certificate Revocation List #\d+:$", text, flags=re.MULTILINE)
    about = {"storage_name": _value(head, "Filename"), "status": _value(head, "Status")}
    return [_revocation_list(part) | about for part in parts]


def authorities(text: str) -> list[tuple[str, str, str]]:
    """Serial number and dates of each certificate of `show ssl ca-file NAME`."""
    parts = re.split(r"^Certificate #\d+:$", text, flags=re.MULTILINE)[1:]
    return [(_value(part, "Serial"), _date_time(_value(part, "notBefore")), _date_time(_value(part, "notAfter"))) for part in parts]


def revocations(text: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Dates and serial numbers of each list of `show ssl crl-file NAME`."""
    parts = re.split(r"^Certificate Revocation List #\d+:$", text, flags=re.MULTILINE)[1:]
    serials = [tuple(sorted(re.findall(r"^\s*Serial Number: (\S+)", part, re.MULTILINE))) for part in parts]
    dates = [[_value(part, "Last Update") or _value(part, "This Update"), _value(part, "Next Update")] for part in parts]
    return [(_date_time(last), _date_time(following), each) for (last, following), each in zip(dates, serials, strict=True)]


def _revocation_list(text: str) -> dict[str, Any]:
    version = re.search(r"^Version (\S+)", text, re.MULTILINE)
    members = {
        "version": version[1] if version else "",
        "signature_algorithm": _value(text, "Signature Algorithm"),
        "issuer": _value(text, "Issuer"),
        "last_update": _date(_value(text, "Last Update") or _value(text, "This Update")),
        "next_update": _date(_value(text, "Next Update")),
        "revoked_certificates": list(_revoked(text)),
    }
    return {name: value for name, value in members.items() if value}


def _revoked(text: str) -> Iterator[dict[str, str]]:
    for serial, date in re.findall(r"^\s*Serial Number: (\S+)\s+Revocation Date: (.*)$", text, re.MULTILINE):
        yield {"serial_number": serial, "revocation_date": _date(date)}


def _value(text: str, label: str) -> str:
    match = re.search(rf"^{label}: (.*)$", text, re.MULTILINE)
    return match[1].strip() if match else ""


def _rows(text: str) -> list[str]:
    return [row for row in text.splitlines() if row and not row.startswith("#")]


def _committed(text: str) -> list[str]:
    """Rows of a transaction begin with a star; a name that does itself has a backslash before it."""
    return [row for row in _rows(text) if not row.startswith("*")]


def _date_time(text: str) -> str:
    """RFC 3339 with milliseconds; HAProxy's own words where they are no date."""
    try:
        return datetime.strptime(text, _DATE).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    except ValueError:
        return text


def _date(text: str) -> str:
    return _date_time(text).partition("T")[0] if text else ""
