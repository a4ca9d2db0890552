# Generated from openapi/ by `make generate`; do not edit.

from datetime import date

from haproxy_native.models import Model
from pydantic import StrictStr

from . import responses as responses_1


class SslOcspResponse(Model):
    """An OCSP response."""

    base64_response: StrictStr | None = None
    """The response in base64."""
    ocsp_response_status: StrictStr | None = None
    """Whether the responder could answer."""
    produced_at: date | None = None
    """When it was made."""
    responder_id: list[StrictStr] | None = None
    """Who answered."""
    response_type: StrictStr | None = None
    """Kind of the response."""
    responses: responses_1.Responses | None = None
    """What it says of a certificate."""
    version: StrictStr | None = None
    """Version of the format."""
