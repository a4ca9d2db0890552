"""Each page of the documentation is in the navigation once, and the target of each link and anchor exists."""

import re
import tomllib
from pathlib import Path
from typing import Any

from tests.rules.sources import CHECKOUT

DOCS = CHECKOUT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
# Code has no links.
CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]+`|^(?: {4}.*\n)+", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*?) *$", re.MULTILINE)


def navigated(entries: list[Any]) -> list[str]:
    found = []
    for entry in entries:
        for target in entry.values():
            found += navigated(target) if isinstance(target, list) else [target]
    return found


def anchors(page: Path) -> set[str]:
    """Return the ids of a page's headings, as Python-Markdown makes them."""
    found: set[str] = set()
    for heading in HEADING.findall(re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", text).strip().lower())
        number = next(n for n in range(100) if (f"{slug}_{n}" if n else slug) not in found)
        found.add(f"{slug}_{number}" if number else slug)
    return found


def dead_links(page: Path) -> list[str]:
    dead = []
    for link in LINK.findall(CODE.sub("", page.read_text())):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        # The site has the files in docs/, but not the README. Only pages have anchors.
        outside = page.is_relative_to(DOCS) and not (target.is_file() and target.is_relative_to(DOCS))
        if outside or not target.exists() or (anchor and (target.suffix != ".md" or anchor not in anchors(target))):
            dead.append(f"{page.name}: {link}")
    return dead


def test_each_page_is_in_the_navigation_once() -> None:
    named = sorted(navigated(tomllib.loads((CHECKOUT / "zensical.toml").read_text())["project"]["nav"]))
    # Decisions are listed on their own page.
    pages = [str(page.relative_to(DOCS)) for page in PAGES if page.parent.name != "decisions" or page.name == "README.md"]
    assert named == sorted(pages)


def test_links_and_anchors_lead_somewhere() -> None:
    assert [link for page in [*PAGES, CHECKOUT / "README.md"] for link in dead_links(page)] == []
    assert any(LINK.search(page.read_text()) for page in PAGES)


def test_a_dead_link_and_a_dead_anchor_are_found(tmp_path: Path) -> None:
    page = CHECKOUT / "docs" / "ctl.md"
    assert "exit-status" in anchors(page)
    wrong = tmp_path / "page.md"
    wrong.write_text(f"# Page\n[a](nowhere.md) [b](#page) [c](#other) [d]({page}#exit-status) [e]({page}#no) `[f](g.md)`\n")
    assert dead_links(wrong) == ["page.md: nowhere.md", "page.md: #other", f"page.md: {page}#no"]
