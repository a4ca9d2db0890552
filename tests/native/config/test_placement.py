"""Where new sections go."""

import pytest

from native.config.placement import insert_section
from native.text.document import Document
from native.text.section import Section


@pytest.mark.parametrize(
    ("text", "new", "order"),
    [
        ("global|defaults d|frontend f|backend b", "crt-store c", "global|defaults d|crt-store c|frontend f|backend b"),
        ("frontend f", "peers p", "peers p|frontend f"),
        ("global|backend b|peers p", "peers q", "global|backend b|peers p|peers q"),
        ("global", "peers p", "global|peers p"),
        ("global|defaults d", "backend b", "global|defaults d|backend b"),
        ("global|backend b|listen l", "frontend f", "global|backend b|listen l|frontend f"),
        ("frontend f|backend b", "global", "global|frontend f|backend b"),
    ],
)
def test_the_order(text: str, new: str, order: str) -> None:
    document = Document.parse(("\n\n".join(text.split("|")) + "\n").encode())
    kind, _, name = new.partition(" ")
    assert insert_section(document, Section(kind, name, new + "\n")).text == "\n\n".join(order.split("|")) + "\n"
