"""A configuration checked together with all that it refers to, before any of it is where it will be used.

The files are laid out in a throw-away tree, with links to what else their directories hold, and the configuration is made to look
there. The grammar is asked first: what it does not know is told, and HAProxy decides.
"""

import os
import re
import shutil
import tempfile
from asyncio import to_thread
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from native.config.check import Checked, CheckSettings, check
from native.config.editor import Editor
from native.config.messages import Message, Places
from native.errors import Refused
from native.text.document import Document


@dataclass(frozen=True)
class WholeSet:
    """`configuration`: the texts of the files that HAProxy is started with, by path and in their order.

    `files`: what they refer to (maps, certificates, crt-lists, error pages), by the path that the configuration uses. A relative path
    begins where HAProxy will be started.
    """

    configuration: Mapping[str, bytes]
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Findings:
    """`unknown`: lines that no object of the API can express; `messages`: what HAProxy said of a set that it accepts."""

    unknown: list[Message]
    messages: list[Message]


async def check_whole_set(given: WholeSet, settings: CheckSettings, editor: Editor | None = None) -> Findings:
    """Raises Refused and CheckImpossible. Nothing is left behind; a `validate_cmd` is not asked, since it knows nothing of the tree."""
    documents = {path: Document.parse(text) for path, text in given.configuration.items()}
    unknown = [found for path, document in documents.items() for found in _unknown(path, document, editor or Editor())]
    tree = Path(await to_thread(tempfile.mkdtemp, prefix="haproxy-set-"))
    checked: list[Checked] = []
    try:
        checked = await to_thread(_lay_out, tree, given, documents)
        return Findings(unknown, [_at_home(said, tree) for said in await check(checked, replace(settings, command=""), home=tree / "home")])
    except Refused as refused:
        alerts = [_at_home(alert, tree) for alert in refused.alerts if isinstance(alert, Message)]
        detail = refused.detail
        for each in checked:
            detail = detail.replace(str(each.path), str(each.file))
        raise Refused(_without(detail, tree), alerts=alerts) from None
    finally:
        await to_thread(shutil.rmtree, tree)


def _unknown(path: str, document: Document, editor: Editor) -> Iterator[Message]:
    by_kind = {resource.section: resource for resource in editor.resources.by_name.values() if resource.section}
    first, places = document.preamble.count("\n"), Places(document)
    for section in document.sections:
        first += section.lead.count("\n")
        for place in editor.unknown(section, by_kind[section.kind]) if section.kind in by_kind else ():
            number = first + place + 1
            header, source = places.locate(number)
            yield Message("notice", "a line that no object of the API can express", path, number, header, source)
        first += section.text.count("\n")


def _lay_out(tree: Path, given: WholeSet, documents: Mapping[str, Document]) -> list[Checked]:
    (tree / "home").mkdir()
    for path, content in given.files.items():
        _write(_place(tree, path), content)
    directories = {os.path.dirname(os.path.normpath(path)) for path in given.files if os.path.isabs(path)}
    for directory in directories:
        _link_others(Path(directory), _place(tree, directory))
    pattern = _below(directories)
    checked = []
    for number, (path, document) in enumerate(documents.items()):
        text = pattern.sub(lambda found: f"{tree}/root{found[0]}", document.text) if pattern else document.text
        copy = tree / f"{number}-{os.path.basename(path)}"
        _write(copy, text.encode("utf-8", "surrogateescape"))
        checked.append(Checked(copy, Path(path), document, main=number == 0))
    return checked


def _place(tree: Path, path: str) -> Path:
    """Where a path is found in the tree, which it cannot leave."""
    return tree / "root" / os.path.normpath(path).lstrip("/") if os.path.isabs(path) else tree / "home" / os.path.normpath("/" + path)[1:]


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _link_others(real: Path, copy: Path) -> None:
    """What is there already stays in reach, below what comes."""
    for each in real.iterdir() if real.is_dir() else ():
        place = copy / each.name
        if place.is_dir() and each.is_dir():
            _link_others(each, place)
        elif not os.path.lexists(place):
            place.symlink_to(each)


def _below(directories: set[str]) -> re.Pattern[str] | None:
    """Any of these directories, as the beginning of a path within a word."""
    names = "|".join(re.escape(each) for each in sorted(directories, key=len, reverse=True))
    return re.compile(rf"(?<![\w./-])(?:{names})(?=[/\s\"',;)]|$)", re.MULTILINE) if names else None


def _without(text: str, tree: Path) -> str:
    return text.replace(f"{tree}/root", "").replace(f"{tree}/home/", "")


def _at_home(said: Message, tree: Path) -> Message:
    """With the paths that the set has."""
    return replace(said, text=_without(said.text, tree), file=_without(said.file, tree) if said.file else None)
