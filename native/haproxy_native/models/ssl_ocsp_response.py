# Generated from openapi/ by `make generate`; do not edit.

from datetime import date

from haproxy_native.models import Model
from pydantic import StrictStr

from . import responses as responses_1


class SslOcspResponse(Model):
    base64_response: StrictStr | None = None
    ocsp_response_status: StrictStr | None = None
    produced_at: date | None = None
    responder_id: list[StrictStr] | None = None
    response_type: StrictStr | None = None
    responses: responses_1.Responses | None = None
    version: StrictStr | None = None
