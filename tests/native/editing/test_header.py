"""The header appears with our first write, says the truth, and leaves every other line alone."""

from collections.abc import Callable
from hashlib import md5

import pytest

from haproxy_native.editing import header
from haproxy_native.text.document import Document

BODY = "global\n  maxconn 5\n\nbackend b\n"


def stamp(text: str, version: int = 7, *, banner: bool = True) -> str:
    return header.with_header(Document.parse(text), version, banner=banner).data.decode("utf-8", "surrogateescape")


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("", 1),
        (BODY, 1),
        ("# _version=41\n" + BODY, 41),
        ("# _md5hash=0\n# other\n# _version=3\n# _version=9\n" + BODY, 3),
        ("# _version=lots\n" + BODY, 1),
        ("# _version=\n" + BODY, 1),
        ("# _version=-4\n" + BODY, 1),
        ("# _version=0\n" + BODY, 1),
        ("# _version=9223372036854775808\n" + BODY, 1),
        ("# _version=9223372036854775807\n" + BODY, 9223372036854775807),
        ("# _version=12\r\n" + BODY, 12),
        ("\n# _version=6\n" + BODY, 6),
        (BODY + "# _version=6\n", 1),
        ("  # _version=6\n" + BODY, 1),
    ],
)
def test_version_of(text: str, version: int) -> None:
    assert header.version_of(Document.parse(text)) == version


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (BODY, BODY),
        ("", ""),
        ("# kept\n\n" + BODY, "# kept\n\n" + BODY),
        ("# kept\n# _version=41\n#kept, too\n" + BODY, "# kept\n#kept, too\n" + BODY),
        ("# _version=1\n# _version=2\n" + BODY, "# _version=2\n" + BODY),
        ("\n# _version=6\n# of global\n" + BODY, "\n# of global\n" + BODY),
        ("# old\n# _md5hash=12\n\t\n" + BODY, "# old\n\t\n" + BODY),
        ("# CRLF\r\n\r\nglobal\r\n", "# CRLF\r\n\r\nglobal\r\n"),
        ("# _version=3", ""),
        ("# \udcff\x00\n" + BODY, "# \udcff\x00\n" + BODY),
    ],
)
def test_all_but_the_header_stays(text: str, rest: str) -> None:
    checksum, version, *banner, behind = stamp(text).split("\n", 4)
    assert version == "# _version=7"
    assert [line + "\n" for line in banner] == list(header.BANNER)
    assert behind == rest
    assert checksum.startswith("# _md5hash=")
    assert stamp(text, banner=False).split("\n", 2)[2] == rest


@pytest.mark.parametrize("text", [BODY, "", "# kept\n" + BODY, "\n# _version=6\n# lead\n" + BODY])
@pytest.mark.parametrize("banner", [True, False])
def test_a_second_header_changes_only_the_version(text: str, banner: bool) -> None:
    once = stamp(text, 7, banner=banner)
    assert stamp(once, 7, banner=banner) == once
    assert stamp(once, 8, banner=banner).split("\n", 2)[2] == once.split("\n", 2)[2]
    assert header.version_of(Document.parse(once)) == 7


def test_checksum_is_of_all_behind_the_first_line() -> None:
    stamped = header.with_header(Document.parse(BODY), 2, banner=True)
    assert stamped.data == stamped.document.data
    assert stamped.checksum == md5(stamped.data.split(b"\n", 1)[1]).hexdigest() == header.checksum_of(stamped.data)
    assert header.checksum_of(BODY.encode()) is None
    assert header.checksum_of(b"# _md5hash=xyz\n") is None


@pytest.mark.parametrize("above", ["", "# mine\n\n", "# Dataplane\n"])
@pytest.mark.parametrize("before", [lambda text: text, stamp, lambda text: stamp(text, banner=False), lambda text: f"# _version=3\n{text}"])
def test_a_short_header_is_a_version_line_alone(above: str, before: Callable[[str], str]) -> None:
    short = header.with_short_header(Document.parse(before(above + BODY)), 7)
    assert short.data.decode() == f"# _version=7\n{above}{BODY}"
    assert short.document.data == short.data


def test_a_document_keeps_its_sections() -> None:
    document = Document.parse(BODY)
    assert header.with_header(document, 2, banner=True).document.sections == document.sections


def test_a_pushed_text_loses_its_versions() -> None:
    text = f"# _version=7\n# _version=8\n# kept\n{BODY} # _version=9\n# _version=10"
    assert header.without_versions(text.encode()) == f"# kept\n{BODY} # _version=9\n".encode()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (BODY, stamp(BODY, banner=False), True),
        (stamp(BODY, 1), stamp(BODY, 2), True),
        (stamp(BODY), stamp(BODY, banner=False), False),
        (BODY, BODY + " ", False),
        (BODY, "\n" + BODY, False),
    ],
)
def test_same_text(one: str, other: str, same: bool) -> None:
    assert header.same_text(Document.parse(one), Document.parse(other)) is same


def test_banner_is_recognised() -> None:
    assert header.has_banner(Document.parse(stamp(BODY)))
    assert not header.has_banner(Document.parse("# first\n" + "".join(header.BANNER) + BODY))
    assert not header.has_banner(Document.parse(BODY))
