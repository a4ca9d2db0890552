"""`ctl get`: shows objects and their lists, from the configuration or the running process, and their text in the file."""

import argparse
import textwrap
from collections.abc import Iterator
from itertools import pairwise

from dataplaneapi.ctl.client import name as quoted
from dataplaneapi.ctl.commands.reloads import show_reloads
from dataplaneapi.ctl.failures import OK, Failure
from dataplaneapi.ctl.kinds import AT_RUNTIME, COLLECTIONS, COLUMNS, ENTRIES, INDEXED, KEYWORDS, LINES
from dataplaneapi.ctl.objects import CONFIGURATION, Object, kinds, parsed
from dataplaneapi.ctl.session import Session

_BEGINNINGS = {*KEYWORDS.values(), "program", "dynamic-update"}


def get_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "dataplaneapi ctl get OBJECT [OPTION ...]"
    text = (
        "a list or one object, as in backend, backend/shop, backend/shop/server, backend/shop/server/web1; / may be a space before the name"
    )
    parser.add_argument("object", nargs="+", metavar="OBJECT", help=text)
    parser.add_argument(
        "-r", "--runtime", action="store_true", help="what the running process has, as in backend/shop/server, map/hosts.map, info"
    )
    parser.add_argument("--transaction", metavar="ID", help="show the state in this transaction")
    listed = textwrap.fill(", ".join(kinds()), 100)
    within = textwrap.fill(", ".join(sorted({kind.partition("/")[2] for kind in COLLECTIONS if "/" in kind})), 100)
    at_runtime = textwrap.fill(", ".join(AT_RUNTIME), 100)
    parser.epilog = f"kinds:\n{listed}\n\nkinds in a section:\n{within}\n\nkinds with -r:\n{at_runtime}\n\n{parser.epilog}"


def run_get(session: Session) -> int:
    given = session.given
    asked = parsed(given.object, runtime=given.runtime)
    transaction = {"transaction_id": given.transaction} if given.transaction else {}
    if session.format == "cfg":
        session.write(_text(session, asked, transaction))
    elif asked.kind == "reload" and session.format != "name":
        show_reloads(session, asked)
    elif asked.runtime and asked.kind in ENTRIES and asked.is_one:
        session.show_list("entry", session.client.get(f"{asked.path}/entries"), "id")
    elif asked.is_one:
        _show_one(session, asked, transaction)
    else:
        value = session.client.get(asked.path, asked.query | transaction)
        _show_list(session, asked, value if isinstance(value, list) else [value])
    return OK


def _show_one(session: Session, asked: Object, transaction: dict[str, str]) -> None:
    answer = session.client.ask("GET", asked.path, asked.query | transaction)
    if "json" in answer.headers.get("content-type", ""):
        value = answer.json()
        session.show_one(value.get("info", value) if asked.kind == "info" else value)
    else:
        session.write(answer.body.decode("utf-8", "replace"))


def _show_list(session: Session, asked: Object, found: list[object]) -> None:
    if session.format == "name":
        for place, element in enumerate(found):
            session.write(f"{Object(asked.kind, asked.parent, name_of(asked, place, element), runtime=asked.runtime)}\n")
        return
    kind = asked.kind.rpartition("/")[2]
    kind = f"runtime {kind}" if asked.runtime and f"runtime {kind}" in COLUMNS else kind
    session.show_list(kind, found, asked.key if asked.is_configured else "name")


def name_of(asked: Object, place: int, each: object) -> str:
    """Return the name of an element of a list, or its index."""
    if not isinstance(each, dict):
        return str(each)
    keys = [asked.key] if asked.is_configured else ["storage_name", "name", "id", "owner"]
    return str(next((each[key] for key in keys if key in each), place))


def _text(session: Session, asked: Object, transaction: dict[str, str]) -> str:
    if not asked.is_configured:
        if asked.runtime or not asked.is_one:
            raise Failure(f"{asked} has no text; -o cfg is for the configuration and for stored files")
        return session.client.ask("GET", asked.path).body.decode("utf-8", "replace")
    answer = session.client.ask("GET", f"{CONFIGURATION}/raw", transaction)
    texts = lines_of(answer.body.decode("utf-8", "surrogateescape"), asked)
    if not texts:
        # Raises RefusedCall if the object does not exist.
        session.client.ask("GET", asked.path, asked.query | transaction)
        raise Failure(f"{asked} has no line of its own: {quoted(asked.parent or '') or asked.kind} has its section")
    return texts.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def lines_of(text: str, asked: Object) -> str:
    """Return the sections or lines of an object in a configuration, a section with the comments above it. Empty if it has no line."""
    wanted = asked.name if "/" not in asked.kind else asked.parent
    texts = [lines for header, lines in _sections(text) if header[0] == asked.section and (not wanted or wanted in header[1:2])]
    if "/" not in asked.kind:
        return "\n".join("".join(lines).strip("\n") + "\n" for lines in texts)
    return "".join(line for lines in texts for line in _children(lines, asked))


def _sections(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the words of each section's first line, and all its lines."""
    header: list[str] = []
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        words = line.split("#")[0].split()
        if words and words[0] in _BEGINNINGS and not line[0].isspace():
            above = _comments(lines)
            if header:
                yield header, lines[: len(lines) - len(above)]
            header, lines = words, above
        lines.append(line)
    if header:
        yield header, lines


def _comments(lines: list[str]) -> list[str]:
    """Return the comments at the end of a section, which belong to the next one."""
    first = len(lines)
    while first and lines[first - 1].startswith("#"):
        first -= 1
    return lines[first:]


def _children(lines: list[str], asked: Object) -> Iterator[str]:
    kind = asked.kind.rpartition("/")[2]
    keyword = LINES.get(kind, kind.removesuffix("_rule").replace("_", "-"))
    place = -1
    for line in lines:
        words = line.split()
        if not words or words[0] != keyword:
            continue
        place += 1
        if asked.name is None or (asked.name == str(place) if kind in INDEXED else _is_named(words, asked.name)):
            yield line


def _is_named(words: list[str], name: str) -> bool:
    """Return whether a line has this name: as its second word, or after the keyword `name`."""
    return words[1:2] == [name] or ("name", name) in pairwise(words[2:])
