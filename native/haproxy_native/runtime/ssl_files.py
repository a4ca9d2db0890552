"""Read and change TLS files in HAProxy's memory: certificates, CA files, CRL files and crt-lists (HAProxy Management Guide, section 9.3).

A certificate, CA file or CRL file is replaced in a transaction: `set` (or `add`) opens it, and `commit` puts the new content into effect at
once. HAProxy has at most one open transaction of each kind, which all its clients share. An open transaction blocks the other clients. So a
change that fails aborts its own transaction, never another client's, and a change runs to its end even if the request is cancelled.

A crt-list has no transactions. HAProxy appends new entries. It deletes an entry by its certificate; if the certificate has several entries,
the command must add the line number that `show ssl crt-list -n` prints.
"""

import asyncio
import re
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from haproxy_native.errors import BadValue, Place, RuntimeFailure
from haproxy_native.runtime import responses as answers
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.responses import refusal_error

_DATE = "%b %d %H:%M:%S %Y %Z"
# The label of a line, and the member of the API's ssl_certificate with its value.
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
# HAProxy prints these for each certificate of a chain; the reference implementation returns the last ones.
_OF_THE_LAST = ("chain_subject", "chain_issuer")
_REVOKED = re.compile(r"^\s*Serial Number: (\S+)\s+Revocation Date: (.*)$", re.MULTILINE)
_ENTRY = re.compile(r"(?P<file>\S+?):(?P<line>\d+)(?: \[(?P<options>[^\]]*)\])?(?P<filters>.*)")


@dataclass(frozen=True)
class CrtListRow:
    """A row of `show ssl crt-list -n`."""

    file: str
    # The line number with which HAProxy deletes the entry; 0 in a directory.
    line: int
    options: str = ""
    filters: tuple[str, ...] = ()

    def as_object(self) -> dict[str, Any]:
        """Return the row as the API's ssl_crt_list_entry, without empty members."""
        members = {"file": self.file, "line_number": self.line, "ssl_bind_config": self.options, "sni_filter": list(self.filters)}
        return {name: value for name, value in members.items() if value}


def parse_names(text: str) -> list[str]:
    """Parse `show ssl cert` or `show ssl crl-file` to the names of the loaded files. A file that an open transaction adds is not loaded."""
    return [row.removeprefix("\\") for row in _committed(text)]


def parse_open_transaction(text: str) -> str:
    """Return the name of the file whose transaction is open, from an answer to `show ssl ...`; empty if none is open.

    The transaction may belong to another client.
    """
    rows = text.splitlines()
    return rows[rows.index("# transaction") + 1].removeprefix("*").partition(" - ")[0] if "# transaction" in rows[:-1] else ""


def parse_ca_files(text: str) -> list[dict[str, Any]]:
    """Parse `show ssl ca-file` to the API's ssl_ca_file objects."""
    return [{"storage_name": name, "count": count} for name, _, count in (row.rpartition(" - ") for row in _committed(text)) if name]


def parse_crt_list(text: str) -> list[CrtListRow]:
    """Parse `show ssl crt-list -n LIST`."""
    # HAProxy prints a NUL after the value of alpn.
    matches = (_ENTRY.fullmatch(row.rstrip()) for row in _rows(text.replace("\0", "")))
    return [
        CrtListRow(match["file"], int(match["line"]), " ".join((match["options"] or "").split()), tuple(match["filters"].split()))
        for match in matches
        if match
    ]


def parse_certificate(text: str) -> dict[str, Any]:
    """Parse `show ssl cert NAME`, or the first certificate of `show ssl ca-file NAME:INDEX`, to the API's ssl_certificate.

    Returns an empty dict if there is no certificate. `file` is present if HAProxy knows the file by another name, as in a crt-store.
    """
    members: dict[str, Any] = {}
    # For an Ed25519 key HAProxy prints neither the algorithm nor the line feed after it.
    for row in text.replace("Algorithm: OCSP", "OCSP").splitlines():
        label, sign, value = row.partition(": ")
        member = _MEMBERS.get(label) if sign else None
        if member and value and (member not in members or member in _OF_THE_LAST):
            members[member] = _date_time(value) if member.startswith("not_") else value
    if members.get("file") == members.get("storage_name"):
        members.pop("file", None)
    return members if "serial" in members or members.get("status") == "Empty" else {}


def parse_crl_entries(text: str) -> list[dict[str, Any]]:
    """Parse `show ssl crl-file NAME` to the API's ssl_crl_entry objects, one for each revocation list in the file."""
    head, *parts = re.split(r"^Certificate Revocation List #\d+:$", text, flags=re.MULTILINE)
    entries: list[dict[str, Any]] = []
    for part in parts:
        version = re.search(r"^Version (\S+)", part, re.MULTILINE)
        revoked = [{"serial_number": serial, "revocation_date": _date(date)} for serial, date in _REVOKED.findall(part)]
        members = {
            "version": version[1] if version else "",
            "signature_algorithm": _value(part, "Signature Algorithm"),
            "issuer": _value(part, "Issuer"),
            "last_update": _date(_value(part, "Last Update") or _value(part, "This Update")),
            "next_update": _date(_value(part, "Next Update")),
            "revoked_certificates": revoked,
        }
        entry: dict[str, Any] = {name: value for name, value in members.items() if value}
        entries.append(entry | {"storage_name": _value(head, "Filename"), "status": _value(head, "Status")})
    return entries


def parse_authorities(text: str) -> list[tuple[str, str, str]]:
    """Parse `show ssl ca-file NAME` to (serial number, notBefore, notAfter) of each certificate."""
    parts = re.split(r"^Certificate #\d+:$", text, flags=re.MULTILINE)[1:]
    return [(_value(part, "Serial"), _date_time(_value(part, "notBefore")), _date_time(_value(part, "notAfter"))) for part in parts]


def parse_revocations(text: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Parse `show ssl crl-file NAME` to (last update, next update, sorted serial numbers) of each revocation list."""
    parts = re.split(r"^Certificate Revocation List #\d+:$", text, flags=re.MULTILINE)[1:]
    serials = [tuple(sorted(re.findall(r"^\s*Serial Number: (\S+)", part, re.MULTILINE))) for part in parts]
    dates = [[_value(part, "Last Update") or _value(part, "This Update"), _value(part, "Next Update")] for part in parts]
    return [(_date_time(last), _date_time(following), each) for (last, following), each in zip(dates, serials, strict=True)]


def _value(text: str, label: str) -> str:
    match = re.search(rf"^{label}: (.*)$", text, re.MULTILINE)
    return match[1].strip() if match else ""


def _rows(text: str) -> list[str]:
    return [row for row in text.split("\n") if row and not row.startswith("#")]


def _committed(text: str) -> list[str]:
    # Rows of a transaction begin with a star; HAProxy puts a backslash before a name that begins with one itself.
    return [row for row in _rows(text) if not row.startswith("*")]


def _date_time(text: str) -> str:
    """Convert a date of OpenSSL to RFC 3339 with milliseconds. Return any other text unchanged."""
    try:
        return datetime.strptime(text, _DATE).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    except ValueError:
        return text


def _date(text: str) -> str:
    return _date_time(text).partition("T")[0] if text else ""


# For each verb, what the answer contains if and only if the command succeeded.
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
class TlsFileKind:
    """A kind of TLS files."""

    # The template of its commands, with places for a verb and a name.
    form: str

    def command(self, verb: str, name: str = "") -> str:
        return self.form.format(verb, argument(name) if name else "").rstrip()


CERTIFICATES, CA_FILES, CRL_FILES = TlsFileKind("{} ssl cert {}"), TlsFileKind("{} ssl ca-file {}"), TlsFileKind("{} ssl crl-file {}")


async def show(runtime: Runtime, kind: TlsFileKind, name: str = "", index: int | None = None) -> str:
    """Return the list of all files, the dump of one file, or the dump of the certificate at `index` in it. Raises RuntimeRefused."""
    command = kind.command("show", name) + ("" if index is None else f":{index}")
    return await runtime.read_dump(command, r"Filename: " if name else r"# ")


async def list_files(runtime: Runtime, kind: TlsFileKind) -> list[str]:
    """Return the names of the loaded files of a kind. Raises RuntimeRefused."""
    shown = await show(runtime, kind)
    return [row["storage_name"] for row in parse_ca_files(shown)] if kind is CA_FILES else parse_names(shown)


async def create(runtime: Runtime, kind: TlsFileKind, name: str, pem: str) -> None:
    """Create a file. If this raises RuntimeRefused, the name is still unused."""

    async def create_and_fill() -> None:
        await _do(runtime, kind, "new", name)
        try:
            await _fill(runtime, kind, "set", name, pem)
        except RuntimeFailure:
            with suppress(RuntimeFailure):
                await _do(runtime, kind, "del", name)
            raise

    await _run_to_its_end(create_and_fill())


async def replace(runtime: Runtime, kind: TlsFileKind, name: str, pem: str) -> None:
    """Replace the content of a file. It is used from the next handshake on.

    If this raises RuntimeRefused, the former content is still in use.
    """
    await _run_to_its_end(_fill(runtime, kind, "set", name, pem))


async def extend(runtime: Runtime, name: str, pem: str) -> None:
    """Add certificates to a CA file, from HAProxy 2.7 on. Raises RuntimeRefused."""
    await _run_to_its_end(_fill(runtime, CA_FILES, "add", name, pem))


async def delete(runtime: Runtime, kind: TlsFileKind, name: str) -> None:
    """Delete a file. Raises RuntimeRefused, also for a file that is in use."""
    await _do(runtime, kind, "del", name)


async def _run_to_its_end(work: Coroutine[None, None, None]) -> None:
    """Run `work` to its end even if the request is cancelled, because an open transaction blocks the transactions of all other clients."""
    task = asyncio.create_task(work)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    await asyncio.shield(task)


async def _fill(runtime: Runtime, kind: TlsFileKind, verb: str, name: str, pem: str) -> None:
    async with runtime.transaction:
        try:
            if _CONTINUED.search(await _do(runtime, kind, verb, name, pem)):
                # Another client left a transaction of that name open, with its own content.
                await _do(runtime, kind, "abort", name)
                await _do(runtime, kind, verb, name, pem)
            await _do(runtime, kind, "commit", name)
        except RuntimeFailure:
            # A transaction of another name belongs to another client.
            with suppress(RuntimeFailure):
                if parse_open_transaction(await show(runtime, kind)) == name:
                    await _do(runtime, kind, "abort", name)
            raise


async def _do(runtime: Runtime, kind: TlsFileKind, verb: str, name: str, pem: str | None = None) -> str:
    command = kind.command(verb, name)
    answer = await runtime.send(command, pem)
    if not _DONE[verb].search(answer):
        raise refusal_error(answers.first_words(answer), command)
    return answer


_CRT_LIST_ADDED = re.compile(r"^Success!\s*\Z", re.MULTILINE)
_CRT_LIST_DELETED = re.compile(r"^Entry .* deleted in crtlist ", re.MULTILINE)
_LINE_BREAK = re.compile(r"[\r\n\0]")


async def list_crt_lists(runtime: Runtime) -> list[str]:
    """Return the names of crt-lists: files, directories, and `@frontend` for the ssl-f-use lines of a frontend."""
    return _rows(await runtime.send("show ssl crt-list"))


async def read_crt_list(runtime: Runtime, name: str) -> list[CrtListRow]:
    """Return the entries in their order. Raises RuntimeRefused."""
    return parse_crt_list(await runtime.read_dump(f"show ssl crt-list -n {argument(name)}", "# "))


async def add_crt_list_entry(runtime: Runtime, name: str, file: str, options: str = "", filters: Sequence[str] = ()) -> None:
    """Append an entry whose certificate is in memory. Raises RuntimeRefused, and BadValue for an entry that does not fit in one line."""
    command = f"add ssl crt-list {argument(name)}"
    if not options and not filters:
        command, payload = f"{command} {argument(file)}", None
    else:
        for member, text in (("file", file), ("ssl_bind_config", options), *(("sni_filter", each) for each in filters)):
            if _LINE_BREAK.search(text):
                raise BadValue(f"{member} contains a line break, but an entry of a crt-list is one line", place=Place(member=member))
        payload = " ".join([file, *([f"[{options}]"] if options else []), *filters])
    answer = await runtime.send(command, payload)
    if not _CRT_LIST_ADDED.search(answer):
        raise refusal_error(answers.first_words(answer), command)


async def delete_crt_list_entry(runtime: Runtime, name: str, file: str, line: int | None = None) -> None:
    """Delete an entry. `line` is needed if the certificate has several entries: without it HAProxy refuses. Raises RuntimeRefused."""
    which = argument(file) + (f":{line}" if line else "")
    command = f"del ssl crt-list {argument(name)} {which}"
    answer = await runtime.send(command)
    if not _CRT_LIST_DELETED.search(answer):
        raise refusal_error(answers.first_words(answer), command)
