"""Rename every named object of every file, and rename it back: the bytes must be the same, and HAProxy must report the same."""

import re
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from haproxy_native.errors import BadRequest, BadValue
from haproxy_native.references.lines import ReferenceTarget, objects
from haproxy_native.references.object_references import check_name, references_to_object, rename_object
from haproxy_native.text.document import Document
from tests.corpus.test_corpus import FILES, REFEREE, SOME
from tests.haproxy import binaries
from tests.laws.referee import furnish

# Names that HAProxy or its command line uses by itself.
KNOWN = ("peer_section/peer_entry", "peer_section/server")


def called(wanted: ReferenceTarget, name: str) -> ReferenceTarget:
    return replace(wanted, name=name, section=(wanted.section[0], name) if wanted.is_section else wanted.section)


def other(document: Document, wanted: ReferenceTarget, name: str) -> Document:
    return rename_object(references_to_object(document, wanted, "/", lambda path: None), name)


def can_be(document: Document, wanted: ReferenceTarget, directory: Path = Path("/")) -> bool:
    """Return whether an object can be renamed here: it has a name in the file, HAProxy accepts another name, and no SPOE file has it."""
    section = document.find(*wanted.section)
    if section is not None and not section.name:
        return False
    found = references_to_object(document, wanted, str(directory), lambda path: Path(path).read_text() if Path(path).is_file() else None)
    try:
        check_name(document, wanted, "other-name")
        check_name(document, wanted, wanted.name)
    except (BadRequest, BadValue):
        return False
    return not any(each.path for each in found.lost)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_there_and_back(path: Path) -> None:
    document = Document.parse(path.read_bytes())
    for wanted in objects(document):
        if can_be(document, wanted):
            there = other(document, wanted, "other-name")
            assert there.data != document.data
            assert other(there, called(wanted, "other-name"), wanted.name).data == document.data, wanted.object


def verdict(binary: str, directory: Path, document: Document) -> list[str]:
    """Return HAProxy's alerts and warnings without names. Those about names that two objects share are left out."""
    (directory / "case.cfg").write_bytes(document.data)
    ran = subprocess.run([binary, "-c", "-f", "case.cfg"], cwd=directory, capture_output=True, check=False)
    lines = re.findall(r"^\[(?:ALERT|WARNING)\].*", ran.stderr.decode("utf-8", "replace"), re.MULTILINE)
    places = [re.findall(r"case\.cfg:\d+", line) for line in lines if "has the same name" not in line]
    return [str(ran.returncode), *(" ".join(each) for each in places)]


@pytest.mark.parametrize("path", SOME, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_haproxy_says_the_same(path: Path, tmp_path: Path) -> None:
    """HAProxy reports the same for the file with all objects renamed, except for those with names that HAProxy itself uses."""
    furnish(tmp_path, tomllib.loads(REFEREE.read_text())["files"])
    document, sections = Document.parse(path.read_bytes()), dict[tuple[str, str], str]()
    there = document
    for number, wanted in enumerate(objects(document)):
        kind, section = wanted.section
        own = wanted if wanted.is_section else replace(wanted, section=(kind, sections.get(wanted.section, section)))
        if wanted.kind.name not in KNOWN and can_be(there, own, tmp_path):
            name = f"zz{number}-zz"
            there = other(there, own, name)
            sections |= {wanted.section: name} if wanted.is_section else {}
    binary = binaries.exactly("3.2")
    assert verdict(binary, tmp_path, there) == verdict(binary, tmp_path, document)
    assert there.data != document.data or not sections
