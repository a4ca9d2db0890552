"""Which filters read a SPOE file, and the configuration that reads a draft instead."""

from pathlib import Path

import pytest

from haproxy_native.editing.editor import Editor
from haproxy_native.spoe.store import SpoeFilters
from haproxy_native.text.document import Document

TEXT = """\
# above

frontend web
  filter compression
  filter spoe engine one config {word}   # asked
frontend other
  filter spoe config /nowhere/g.cfg
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "spoe").mkdir()
    (tmp_path / "spoe" / "f.cfg").write_text("[one]\n")
    (tmp_path / "link").symlink_to("spoe")
    return tmp_path / "spoe" / "f.cfg"


@pytest.mark.parametrize(
    ("word", "reads"),
    [
        ("{home}/spoe/f.cfg", True),
        ("{home}/spoe/../spoe/./f.cfg", True),
        ('"{home}/spoe/f.cfg"', True),
        ("{home}/link/f.cfg", True),
        ("spoe/f.cfg", True),
        ("$DIR/f.cfg", True),
        ("{home}/spoe/f.cfg.bak", False),
        ("{home}/f.cfg", False),
        ("f.cfg", False),
        ("$DIR/g.cfg", False),
    ],
)
def test_a_filter(file: Path, tmp_path: Path, word: str, reads: bool) -> None:
    filters = SpoeFilters(Editor(), [Path("/elsewhere"), tmp_path])
    document = Document.parse(TEXT.format(word=word.format(home=tmp_path)))
    found = filters.reading(document, file)
    assert bool(found) is reads
    plain = filters.spelled_out(document, file)
    if not reads:
        assert plain is document
        return
    assert plain.text.replace('"', "") == document.text.replace(word.format(home=tmp_path), str(file))
    assert (found[0].line(document), found[0].text().split()[0]) == (5, "filter")
    reason = found[0].reason(document, file.name)
    assert (reason.section, reason.line, reason.keyword) == ("frontend web", 5, "filter")
    assert "f.cfg" in reason.why


def test_a_filter_in_a_snippet_reads_its_file(file: Path) -> None:
    begin, end = "  ###_config-snippet_### BEGIN\n", "  ###_config-snippet_### END\n"
    document = Document.parse(f"frontend web\n{begin}  filter spoe engine one config {file}\n{end}")
    filters = SpoeFilters(Editor(), [])
    assert [each.line(document) for each in filters.reading(document, file)] == [3]
    assert filters.spelled_out(document, file).text == document.text


def test_a_relative_path_begins_in_haproxy_s_working_directory(tmp_path: Path) -> None:
    document = Document.parse("frontend f\n  filter spoe engine e config spoe/e.spoe\n")
    filters = SpoeFilters(Editor(), [Path("/elsewhere")], lambda: tmp_path)
    assert len(filters.reading(document, tmp_path / "spoe" / "e.spoe")) == 1
    assert SpoeFilters(Editor(), [Path("/elsewhere")]).reading(document, tmp_path / "spoe" / "e.spoe") == []
