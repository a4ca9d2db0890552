"""Removes from a refusal what stands in sections that the caller may not read."""

from collections.abc import Callable, Collection, Iterator

from haproxy_native.check.messages import Message
from haproxy_native.editing.editor import standard_editor
from haproxy_native.errors import InUse, NativeError, Refused, ReloadFailed
from haproxy_native.planning.effects import section_object

HIDDEN = "HAProxy refuses it for what stands in sections that you may not read"


def without_others(error: NativeError, may_read: Callable[[str], bool]) -> NativeError:
    """A refusal without what stands in sections that may not be read."""
    if isinstance(error, ReloadFailed):
        return ReloadFailed("Reload failed: what HAProxy said is for those who may read everything")
    if isinstance(error, InUse):
        return InUse(error.detail.partition(" at line ")[0])
    if not isinstance(error, Refused) or not error.alerts:
        return error
    own = [each for each in error.alerts if isinstance(each, Message) and each.section and may_read(_object(each.section))]
    return Refused("\n".join(_lines(own)) or HIDDEN, place=error.place, alerts=own)


def _object(header: str) -> str:
    kind, *names = header.split()
    return section_object(standard_editor(), kind, names[0] if names else "")


def _lines(alerts: Collection[Message]) -> Iterator[str]:
    for each in alerts:
        yield f"line {each.line}, in '{each.section}': {each.text}"
