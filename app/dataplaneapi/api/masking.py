"""Removes from answers what their caller may not see: secrets, and what stands in sections that it may not read."""

from collections.abc import Callable, Collection, Iterator

from dataplaneapi.api.bodies import decode
from dataplaneapi.api.operations import Operation
from dataplaneapi.api.responses import JSON, to_json
from haproxy_native.check.messages import Message
from haproxy_native.editing.editor import standard_editor
from haproxy_native.editing.object_names import object_of_section
from haproxy_native.editing.secrets import masked_value
from haproxy_native.errors import InUse, NativeError, Refused, ReloadFailed

HIDDEN = "HAProxy refuses it for what stands in sections that you may not read"


def masked_body(operation: Operation, status: int, body: bytes, kind: bytes) -> bytes:
    """The body of an answer without secrets, along the schema that the operation declares for it."""
    schema = operation.answer(status, kind.decode())
    if kind != JSON:
        return str(masked_value(body.decode("utf-8", "surrogateescape"), schema)).encode("utf-8", "surrogateescape")
    return to_json(masked_value(decode(body), schema))


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
    return object_of_section(standard_editor(), kind, names[0] if names else "")


def _lines(alerts: Collection[Message]) -> Iterator[str]:
    for each in alerts:
        yield f"line {each.line}, in '{each.section}': {each.text}"
