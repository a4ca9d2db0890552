"""What takes one change back among later ones. Pure."""

from haproxy_native.editing import patches
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.header import under_head_of
from haproxy_native.editing.secrets import masked_lines
from haproxy_native.errors import Conflict, Diverged
from haproxy_native.planning.effects import effects, inverse, is_there, with_effects
from haproxy_native.text.document import Document
from haproxy_native.text.merge import Collision, Lines, merged
from haproxy_native.text.pieces import decoded, encoded, split_lines
from haproxy_native.text.section import Section


def without(editor: Editor, now: Document, before: Document, after: Document) -> Document:
    """The configuration without the change that made `after` of `before`: by lines, or where those collide, by objects and members.

    Raises Conflict with both sides, without their secrets.
    """
    try:
        return by_lines(now, before, after)
    except Collision as collision:
        undone = [effect for effect in inverse(effects(editor, before, after)) if not is_there(editor, now, effect)]
        try:
            return with_effects(editor, now, undone) if undone else now
        except Conflict as error:
            raise Diverged(f"{error.detail}; {_shown(collision)}") from None


def by_lines(now: Document, before: Document, after: Document) -> Document:
    """The same by lines alone. Raises Collision."""
    _compare_new_sections(now, before, after)
    lines = merged(*(split_lines(under_head_of(document, now).text) for document in (after, now, before)))
    return patches.sharing(Document.parse("".join(lines)), now)


def _compare_new_sections(now: Document, before: Document, after: Document) -> None:
    """Raises Collision for a section that came with the change and is another now: what is new in it would fall to the section above."""
    for section in after.sections:
        there = None if before.find(section.kind, section.name) else now.find(section.kind, section.name)
        if there and (lines := _lines(there)) != _lines(section):
            raise Collision(_lines(section), lines, ())


def _lines(section: Section) -> list[str]:
    return [text for line in section.lines if (text := line.text.strip())]


def content_without(name: str, now: bytes | None, before: bytes | None, after: bytes | None, *, is_shown: bool = True) -> bytes | None:
    """The same of a file of its own; nothing of what it holds is shown unless `is_shown`. Raises Conflict."""
    if now in (before, after):
        return before
    if now is None or before is None or after is None:
        raise Diverged(f"{name} has been {'deleted' if now is None else 'changed'} since")
    try:
        return encoded("".join(merged(*(split_lines(decoded(text)) for text in (after, now, before)))))
    except Collision as collision:
        raise Diverged(f"{name} has been changed since" + (f"; {_shown(collision)}" if is_shown else "")) from None


def _shown(collision: Collision) -> str:
    mine, theirs = (_quoted([masked_lines(line.strip()) for line in lines]) for lines in (collision.mine, collision.theirs))
    return f"now: {mine}; to come back: {theirs}"


def _quoted(lines: Lines) -> str:
    text = " | ".join(lines[:3]) + (" | ..." if len(lines) > 3 else "")
    return f"'{text[:200]}'" if lines else "nothing"
