"""Certificates, CA files and CRL files in HAProxy's memory: read, created, replaced and deleted; each change is atomic.

HAProxy holds one open transaction of each kind for all its clients; a change that fails aborts its own, so that no other client is
blocked.
(HAProxy Management Guide, section 9.3: `new|set|add|commit|abort|del ssl cert|ca-file|crl-file`.)
"""

import asyncio
import re
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from haproxy_native.errors import RuntimeFailure
from haproxy_native.runtime import responses as answers
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.responses import refused

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


# What is in the answer of each command when it was carried out, and never else.
_DONE: Mapping[str, re.Pattern[str]] = {
    "new": re.compile(r"^New (?:empty certificate store|CA file created|CRL file created) ", re.MULTILINE),
    "set": re.compile(r"^transaction (?:created|updated) for ", re.MULTILINE | re.IGNORECASE),
    "add": re.compile(r"^transaction (?:created|updated) for ", re.MULTILINE | re.IGNORECASE),
    "commit": re.compile(r"^Committing .*^Success!", re.MULTILINE | re.DOTALL),
    "abort": re.compile(r"^Transaction aborted for ", re.MULTILINE),
    "del": re.compile(r"' deleted!\s*\Z"),
}
_CONTINUED = re.compile(r"^transaction updated for ", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True)
class Kind:
    """`form` is that of a command: a verb, HAProxy's words for this kind of file, a name."""

    form: str

    def command(self, verb: str, name: str = "") -> str:
        return self.form.format(verb, argument(name) if name else "").rstrip()


CERTIFICATES, CA_FILES, CRL_FILES = Kind("{} ssl cert {}"), Kind("{} ssl ca-file {}"), Kind("{} ssl crl-file {}")


async def show(runtime: Runtime, kind: Kind, name: str = "", index: int | None = None) -> str:
    """A dump: of all, of one, or of the certificate with an index in that one, empty where there is none. Raises RuntimeRefused."""
    command = kind.command("show", name) + ("" if index is None else f":{index}")
    return await runtime.read(command, r"Filename: " if name else r"# ")


async def create(runtime: Runtime, kind: Kind, name: str, pem: str) -> None:
    """Raises RuntimeRefused, after which there is nothing new of that name."""
    await _to_its_end(_created(runtime, kind, name, pem))


async def replace(runtime: Runtime, kind: Kind, name: str, pem: str) -> None:
    """What is served from the next handshake on. Raises RuntimeRefused, after which the former content is still in use."""
    await _to_its_end(_filled(runtime, kind, "set", name, pem))


async def extend(runtime: Runtime, name: str, pem: str) -> None:
    """Adds certificates to a CA file, from HAProxy 2.7 on. Raises RuntimeRefused."""
    await _to_its_end(_filled(runtime, CA_FILES, "add", name, pem))


async def delete(runtime: Runtime, kind: Kind, name: str) -> None:
    """Raises RuntimeRefused, also for what is in use."""
    await _do(runtime, kind, "del", name)


async def _to_its_end(work: Coroutine[None, None, None]) -> None:
    """Runs to completion even if the request is cancelled: a transaction left open would block every other one."""
    task = asyncio.create_task(work)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    await asyncio.shield(task)


async def _created(runtime: Runtime, kind: Kind, name: str, pem: str) -> None:
    await _do(runtime, kind, "new", name)
    try:
        await _filled(runtime, kind, "set", name, pem)
    except RuntimeFailure:
        with suppress(RuntimeFailure):
            await _do(runtime, kind, "del", name)
        raise


async def _filled(runtime: Runtime, kind: Kind, verb: str, name: str, pem: str) -> None:
    async with runtime.transaction:
        try:
            if _CONTINUED.search(await _do(runtime, kind, verb, name, pem)):
                # Another client left its own parts in a transaction of that name.
                await _do(runtime, kind, "abort", name)
                await _do(runtime, kind, verb, name, pem)
            await _do(runtime, kind, "commit", name)
        except RuntimeFailure:
            await _aborted(runtime, kind, name)
            raise


async def _aborted(runtime: Runtime, kind: Kind, name: str) -> None:
    """Aborts the transaction of this name only: others belong to other clients."""
    with suppress(RuntimeFailure):
        if open_transaction(await show(runtime, kind)) == name:
            await _do(runtime, kind, "abort", name)


async def _do(runtime: Runtime, kind: Kind, verb: str, name: str, pem: str | None = None) -> str:
    command = kind.command(verb, name)
    answer = await runtime.send(command, pem)
    if not _DONE[verb].search(answer):
        raise refused(answers.first_words(answer), command)
    return answer
