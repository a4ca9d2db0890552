"""`ctl get`: show objects and lists of objects, from the configuration or from the running process, or their lines in the file."""

import argparse
import textwrap
from collections.abc import Iterator
from itertools import pairwise

from dataplaneapi.ctl.client import quote_name
from dataplaneapi.ctl.commands.reloads import show_reloads
from dataplaneapi.ctl.failures import OK, Failure
from dataplaneapi.ctl.kinds import AT_RUNTIME, COLLECTIONS, COLUMNS, ENTRIES, INDEXED, KEYWORDS, LINES
from dataplaneapi.ctl.objects import CONFIGURATION, Object, kinds, parse_object
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
    target = parse_object(given.object, runtime=given.runtime)
    transaction = {"transaction_id": given.transaction} if given.transaction else {}
    if session.format == "cfg":
        session.write(_read_text(session, target, transaction))
    elif target.kind == "reload" and session.format != "name":
        show_reloads(session, target)
    elif target.runtime and target.kind in ENTRIES and target.is_one:
        session.show_list("entry", session.client.get(f"{target.path}/entries"), "id")
    elif target.is_one:
        answer = session.client.request("GET", target.path, target.query | transaction)
        if "json" in answer.headers.get("content-type", ""):
            value = answer.json()
            session.show_one(value.get("info", value) if target.kind == "info" else value)
        else:
            session.write(answer.body.decode("utf-8", "replace"))
    else:
        value = session.client.get(target.path, target.query | transaction)
        elements = value if isinstance(value, list) else [value]
        if session.format == "name":
            for index, element in enumerate(elements):
                session.write(f"{Object(target.kind, target.parent, name_of(target, index, element), runtime=target.runtime)}\n")
            return OK
        kind = target.kind.rpartition("/")[2]
        kind = f"runtime {kind}" if target.runtime and f"runtime {kind}" in COLUMNS else kind
        session.show_list(kind, elements, target.key if target.is_configured else "name")
    return OK


def name_of(target: Object, index: int, element: object) -> str:
    """Return the name of an element of the collection `target`. If its elements have no names, return the index of the element."""
    if not isinstance(element, dict):
        return str(element)
    keys = [target.key] if target.is_configured else ["storage_name", "name", "id", "owner"]
    return str(next((element[key] for key in keys if key in element), index))


def _read_text(session: Session, target: Object, transaction: dict[str, str]) -> str:
    if not target.is_configured:
        if target.runtime or not target.is_one:
            raise Failure(f"{target} has no text; -o cfg is for the configuration and for stored files")
        return session.client.request("GET", target.path).body.decode("utf-8", "replace")
    answer = session.client.request("GET", f"{CONFIGURATION}/raw", transaction)
    texts = lines_of(answer.body.decode("utf-8", "surrogateescape"), target)
    if not texts:
        # Raises RefusedCall if the object does not exist.
        session.client.request("GET", target.path, target.query | transaction)
        raise Failure(f"{target} has no line of its own: {quote_name(target.parent or '') or target.kind} has its section")
    return texts.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def lines_of(text: str, target: Object) -> str:
    """Return the lines of the object `target` in the text of a configuration. A section includes the comments above it.

    Return an empty text if the object has no line.
    """
    section = target.name if "/" not in target.kind else target.parent
    sections = [lines for header, lines in _sections(text) if header[0] == target.section and (not section or section in header[1:2])]
    if "/" not in target.kind:
        return "\n".join("".join(lines).strip("\n") + "\n" for lines in sections)
    kind = target.kind.rpartition("/")[2]
    keyword = LINES.get(kind, kind.removesuffix("_rule").replace("_", "-"))
    name, selected = target.name, []
    for lines in sections:
        children = [line for line in lines if line.split()[:1] == [keyword]]
        for index, line in enumerate(children):
            words = line.split()
            if name is None:
                is_selected = True
            elif kind in INDEXED:
                is_selected = name == str(index)
            else:
                # The name of a line is its second word, or follows the keyword `name`.
                is_selected = words[1:2] == [name] or ("name", name) in pairwise(words[2:])
            if is_selected:
                selected.append(line)
    return "".join(selected)


def _sections(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield (words of the first line, all lines) of each section."""
    header: list[str] = []
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        words = line.split("#")[0].split()
        if words and words[0] in _BEGINNINGS and not line[0].isspace():
            # Comments at the end of a section belong to the next one.
            end = len(lines)
            while end and lines[end - 1].startswith("#"):
                end -= 1
            if header:
                yield header, lines[:end]
            header, lines = words, lines[end:]
        lines.append(line)
    if header:
        yield header, lines
