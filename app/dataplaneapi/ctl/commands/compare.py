"""`ctl compare` shows where two servers differ in configuration and stored files. `ctl copy` makes the second server like the first."""

import argparse
import difflib
import json
import re
from contextlib import closing
from typing import Any

from dataplaneapi.ctl import contexts, output
from dataplaneapi.ctl.client import JSON, TEXT, Answer, Client, quote_name
from dataplaneapi.ctl.failures import DIFFERS, OK, REFUSED, Failure, RefusedCall
from dataplaneapi.ctl.kinds import OTHERS
from dataplaneapi.ctl.objects import CONFIGURATION, SIDECAR
from dataplaneapi.ctl.session import Session, add_write_arguments

# Kinds of stored files.
FILES = ("map", "acl_file", "crt_list", "general")
CERTIFICATES = "certificate"
# Certificates are compared by these members: the API does not return their content, which includes private keys.
IDENTITY = ("serial", "issuers", "subject", "not_before", "not_after", "size")
RAW = f"{CONFIGURATION}/raw"
HEADER = re.compile(rb"\A(?:# (?:_md5hash=|_version=|Dataplaneapi managed File|changing file directly)[^\n]*\n)+")


def compare_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="FIRST", help="context of the server whose lines have a minus in the difference")
    parser.add_argument("second", metavar="SECOND", help="context of the server whose lines have a plus")


def run_compare(session: Session) -> int:
    with closing(Side(session.given.first)) as first, closing(Side(session.given.second)) as second:
        found = differences(first, second)
    session.show(found, lambda shown: comparison_text(shown, colours=session.colours))
    return DIFFERS if found["configuration"] or found["files"] else OK


def copy_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="FROM", help="context of the server whose configuration is copied")
    parser.add_argument("target", metavar="TO", help="context of the server that gets it; stored files that only it has stay")
    add_write_arguments(parser, dry_run=True)


def run_copy(session: Session) -> int:
    """Copy the configuration, and before it the stored files that differ or are missing at the target, with which the target checks it."""
    given = session.given
    with closing(Side(given.target)) as target, closing(Side(given.source)) as source:
        found = differences(target, source)
        session.show(found, lambda shown: comparison_text(shown, colours=session.colours))
        missing = [row for row in found["files"] if row["difference"] != f"only on {target.name}"]
        if certificates := [row["name"] for row in missing if row["kind"] == CERTIFICATES]:
            names = ", ".join(certificates)
            raise Failure(f"the API shows no private keys; store {names} on {target.name} first. Nothing was changed", REFUSED)
        if given.dry_run or not (missing or found["configuration"]):
            return OK
        query, headers = session.write_options()
        target.store([(row["kind"], row["name"], source.text_of(row["kind"], row["name"])) for row in missing], headers)
        if not found["configuration"]:
            return OK
        session.use(target.client)
        answer = target.client.request("POST", RAW, query | {"skip_version": True}, source.whole, TEXT, if_match=target.tag, **headers)
        return session.report_write(answer)


class Side:
    """One of the two servers to compare, with its configuration."""

    def __init__(self, name: str) -> None:
        self.name, self.client = name, Client(contexts.stored_context(name))
        answer = self._call("GET", RAW)
        self.whole, self.tag = answer.body, answer.headers["etag"]
        # The configuration without the header lines that the server writes.
        self.text = HEADER.sub(b"", self.whole, count=1)

    def close(self) -> None:
        self.client.close()

    def names(self, kind: str) -> set[str]:
        """Return the names of the stored files of a kind. Empty if the server has no directory for this kind."""
        try:
            return {row["storage_name"] for row in self._call("GET", OTHERS[kind]).json() or ()}
        except RefusedCall as refused:
            if refused.code == 404:
                return set()
            raise

    def file(self, kind: str, name: str, known: str = "") -> Answer:
        """Return the answer to the GET of a stored file. `known`: the ETag of a known content.

        If the file still has this ETag, the answer is a 304.
        """
        headers = {"if_none_match": known} if known else {}
        return self._call("GET", f"{OTHERS[kind]}/{quote_name(name)}", None, TEXT, **headers)

    def text_of(self, kind: str, name: str) -> str:
        """Return the content of a stored file. Raises Failure if it is not UTF-8."""
        try:
            return self.file(kind, name).body.decode()
        except UnicodeDecodeError:
            raise Failure(f"{kind}/{name} on {self.name} is not text, so it cannot be copied; nothing was changed", REFUSED) from None

    def store(self, files: list[tuple[str, str, str]], headers: dict[str, str]) -> None:
        """Create or replace stored files in one batch. `files`: (kind, name, content) of each file. Raises Failure."""
        calls = []
        for kind, name, content in files:
            exists = name in self.names(kind)
            path = f"{OTHERS[kind]}/{quote_name(name)}" if exists else OTHERS[kind]
            form = {"file": name} if not exists or kind == "general" else {"content_type": TEXT}
            calls.append({"method": "PUT" if exists else "POST", "path": path, "body": content, **form})
        if calls:
            self._call("POST", f"{SIDECAR}/batch", json.dumps(calls).encode(), JSON, **headers)

    def _call(self, method: str, path: str, body: bytes | None = None, kind: str = TEXT, **headers: str) -> Answer:
        try:
            return self.client.request(method, path, None, body, kind, **headers)
        except Failure as failure:
            failure.args = (f"{self.name}: {failure}",)
            raise


def differences(first: Side, second: Side) -> dict[str, Any]:
    """Compare two servers. In the result, `configuration` is a unified diff, and `files` has a row for each stored file that differs."""
    before, after = (side.text.decode("utf-8", "replace").splitlines() for side in (first, second))
    lines = [] if first.text == second.text else list(difflib.unified_diff(before, after, first.name, second.name, lineterm=""))
    rows = []
    for kind in (*FILES, CERTIFICATES):
        on_first, on_second = first.names(kind), second.names(kind)
        for name in sorted(on_first | on_second):
            if name not in on_second:
                difference = f"only on {first.name}"
            elif name not in on_first:
                difference = f"only on {second.name}"
            elif kind == CERTIFICATES:
                one, other = (side.file(kind, name).json() for side in (first, second))
                difference = "content" if any(one.get(member) != other.get(member) for member in IDENTITY) else ""
            else:
                etag = first.file(kind, name).headers.get("etag", "")
                difference = "content" if second.file(kind, name, etag).status != 304 else ""
            if difference:
                rows.append({"kind": kind, "name": name, "difference": difference})
    return {"configuration": lines, "files": rows}


def comparison_text(found: dict[str, Any], *, colours: bool) -> str:
    files = [f"{row['kind']}/{row['name']}: {row['difference']}" for row in found["files"]]
    return output.difference_text([*found["configuration"], *files] or ["no difference"], colours=colours)
