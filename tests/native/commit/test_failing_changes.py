"""The changes that brought the lines which HAProxy names are found, and taken back among others."""

from itertools import pairwise

import pytest

from haproxy_native.commit.after_reload import NamedLine, failing_changes, named_lines, without_changes
from haproxy_native.commit.change import Published
from haproxy_native.errors import Conflict
from haproxy_native.request_context import Author
from haproxy_native.text import parts
from haproxy_native.text.document import Document

TEXT = "# _version=1\nglobal\n\nfrontend site\n  bind :80\n\nfrontend other\n  bind :81\n"
SITE, OTHER = "frontend site", "frontend other"


def said(line: int, file: str = "/etc/haproxy/haproxy.cfg", level: str = "ALERT") -> str:
    return f"[NOTICE]   (7) : New\n[{level}]    (7) : Binding [{file}:{line}] for frontend site: cannot bind socket for [127.0.0.1:8].\n"


def changes(*texts: str) -> list[Published]:
    """What leads from the first text to the last."""
    documents = [Document.parse(text) for text in texts]
    return [Published(number, Author(), *pair) for number, pair in enumerate(pairwise(documents), 2)]


def test_the_line_that_is_named() -> None:
    document = Document.parse(TEXT)
    assert named_lines(said(5), document, "haproxy.cfg") == {NamedLine(SITE, "bind :80")}
    assert named_lines(said(5) + said(8), document, "haproxy.cfg") == {NamedLine(SITE, "bind :80"), NamedLine(OTHER, "bind :81")}


@pytest.mark.parametrize(
    "words",
    [
        "",
        "[ALERT]    (7) : Starting frontend site: cannot bind socket [127.0.0.1:8]",
        said(5, "/other.cfg"),
        said(99),
        said(5, level="WARNING"),
    ],
)
def test_no_line_is_named(words: str) -> None:
    assert named_lines(words, Document.parse(TEXT), "haproxy.cfg") == set()


def test_a_line_of_one_of_several_files() -> None:
    document = Document.parse(parts.join([(parts.MAIN, b"global\n"), ("conf.d/a.cfg", b"# mine\nfrontend a\n  bind :1\n")]))
    assert named_lines(said(3, "/etc/haproxy/conf.d/a.cfg"), document, "haproxy.cfg") == {NamedLine("frontend a", "bind :1")}


def test_the_last_change_that_brought_it() -> None:
    more = TEXT.replace(":80\n", ":80\n  bind :82\n")
    first, second, third, fourth = changes(TEXT, more, TEXT, more, more.replace(":81", ":91"))
    assert failing_changes([first, second, third, fourth], {NamedLine(SITE, "bind :82")}) == [third]
    assert failing_changes([first, second, third, fourth], {NamedLine(SITE, "bind :82"), NamedLine(OTHER, "bind :91")}) == [third, fourth]


def test_a_line_that_was_there_before_is_nobody_s() -> None:
    assert failing_changes(changes(TEXT, TEXT.replace(":80\n", ":80\n  maxconn 5\n")), {NamedLine(SITE, "bind :80")}) == []


def test_the_same_line_of_another_section_is_another() -> None:
    first, second = changes(TEXT, TEXT.replace(":81", ":82"), TEXT.replace(":81", ":82").replace(":80", ":82"))
    assert failing_changes([first, second], {NamedLine(OTHER, "bind :82")}) == [first]


def test_only_the_guilty_change_goes() -> None:
    texts = [TEXT, TEXT.replace(":80\n", ":80\n  bind :1\n")]
    texts.append(texts[1].replace(":1\n", ":1\n  bind :2\n", 1))
    texts.append(texts[2].replace(":2\n", ":2\n  bind :3\n", 1))
    published = changes(*texts)
    assert without_changes(published[-1].after, published[1:2]).text == texts[3].replace("  bind :2\n", "")
    assert without_changes(published[-1].after, published).text == TEXT


def test_a_later_change_of_the_same_raises() -> None:
    new = TEXT + "frontend new\n  bind :1\n"
    published = changes(TEXT, new, new + "  maxconn 5\n")
    with pytest.raises(Conflict):
        without_changes(published[-1].after, published[:1])
