"""The whole text of one of the configuration's files anew, as a change."""

from collections.abc import Callable

from haproxy_native.beside import beside
from haproxy_native.commit.change import Change
from haproxy_native.editing import header, patches
from haproxy_native.errors import BadRequest
from haproxy_native.text import parts
from haproxy_native.text.document import MARK, Document


async def raw_push(
    body: bytes,
    name: str,
    *,
    skip_version: bool,
    skip_reload: bool,
    force_reload: bool,
    actions: str,
    instead_of: Callable[[Document], None] | None,
) -> Change:
    """Returns the change of a raw push to the named file, on any version; the other parameters as in `Engine.push_raw`.

    Raises BadRequest.
    """
    document = await beside(parsed, body, versions=skip_version)
    banner = header.has_banner(document)

    def pushed(current: Document) -> Document:
        if instead_of:
            instead_of(current)
        return patches.sharing(parts.with_parts(current, {name: document}), current)

    return Change(
        edit=pushed,
        keeps_version=skip_version and name == parts.MAIN,
        force_reload=force_reload and not skip_reload,
        skip_reload=skip_reload,
        banner=banner if name == parts.MAIN else None,
        actions=actions if skip_reload else "",
        whole=True,
        sent={name: body.count(b"\n")},
    )


def parsed(body: bytes, *, versions: bool = True) -> Document:
    """A text that a client sent, perhaps without its version lines; a mark in it would make it speak of other files. Raises BadRequest."""
    if MARK.encode() in body:
        raise BadRequest("invalid configuration: it holds a NUL character")
    return Document.parse(body if versions else header.without_versions(body))
