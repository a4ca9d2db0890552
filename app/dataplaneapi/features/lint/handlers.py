"""The operation that lints the configuration."""

from dataplaneapi.api.access import reader
from dataplaneapi.api.bodies import preferred
from dataplaneapi.api.call import ReadCall
from dataplaneapi.api.responses import JSON, TEXT, Response
from haproxy_native.features.lint.finding import JSON_FORM, SARIF_FORM, TEXT_FORM, encode_findings
from haproxy_native.features.lint.lint import Linting
from haproxy_native.threads import run_in_thread

MEDIA_TYPES = {JSON_FORM: JSON, SARIF_FORM: b"application/sarif+json", TEXT_FORM: TEXT}


async def read(call: ReadCall) -> Response:
    forms = {kind.decode(): form for form, kind in MEDIA_TYPES.items()}
    form = call.query.format or forms[preferred(call.exchange.values_of(b"accept"), forms)]
    linting = Linting(call.services.engine, call.services.discovery.backends)
    findings = await linting.findings(call.query.transaction_id, reader(call.author))
    return Response(200, await run_in_thread(encode_findings, findings, form), MEDIA_TYPES[form])
