# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class SslOcspUpdate(Model):
    cert_id: StrictStr | None = None
    failures: StrictInt | None = None
    last_update: StrictStr | None = None
    last_update_status: StrictInt | None = None
    last_update_status_str: StrictStr | None = None
    next_update: StrictStr | None = None
    path: StrictStr | None = None
    successes: StrictInt | None = None
