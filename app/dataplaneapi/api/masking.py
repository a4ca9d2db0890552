"""Bodies of answers without secrets, along the schemas that their operations declare."""

from dataplaneapi.api.bodies import decode
from dataplaneapi.api.operations import Operation
from dataplaneapi.api.responses import JSON, to_json
from haproxy_native.editing.secrets import masked_value


def masked_body(operation: Operation, status: int, body: bytes, kind: bytes) -> bytes:
    """The body of an answer without secrets, along the schema that the operation declares for it."""
    schema = operation.answer(status, kind.decode())
    if kind != JSON:
        return str(masked_value(body.decode("utf-8", "surrogateescape"), schema)).encode("utf-8", "surrogateescape")
    return to_json(masked_value(decode(body), schema))
