"""The Runtime API sockets that a configuration opens, in the order of the file."""

import functools

from haproxy_native.disk.files import ConfigFiles
from haproxy_native.errors import Unreadable
from haproxy_native.grammar.load import grammar
from haproxy_native.grammar.section_shape import SectionShape
from haproxy_native.text.document import Document
from haproxy_native.text.words import unquoted

GLOBAL, SOCKETS = "global", "runtime_apis"


def addresses(document: Document) -> list[str]:
    """Returns the addresses as the file writes them, without quotes."""
    sockets = (socket for section in document.sections if section.kind == GLOBAL for socket in _shape().read(section).get(SOCKETS, ()))
    return [unquoted(socket["address"]) for socket in sockets if socket.get("address")]


@functools.cache
def _shape() -> SectionShape:
    return grammar().members(GLOBAL, (SOCKETS,))


def addresses_in(files: ConfigFiles) -> list[str]:
    """Returns the addresses in files on disk; none of an unreadable one."""
    try:
        return addresses(Document.parse(files.read()))
    except Unreadable:
        return []
