"""Spans as a collector receives them, over real HTTP."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from dataplaneapi.telemetry import traces
from tests.app.client import CONFIG, Client, serving
from tests.app.telemetry.test_trace_context import PARENT, SENT, TRACE


class Collector(HTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Receiver)
        self.spans: list[Any] = []


class Receiver(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        import gzip

        body = self.rfile.read(int(self.headers["Content-Length"]))
        request = ExportTraceServiceRequest.FromString(gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
        self.server.spans += [span for each in request.resource_spans for scope in each.scope_spans for span in scope.spans]
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        yield server
        server.shutdown()
        thread.join()


def test_a_request_and_what_it_caused(collector: Collector, tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        got = client.post(f"{CONFIG}/backends?version=1&force_reload=true", {"name": "one"}, headers={"traceparent": SENT})
        client.get("/v3/nowhere")
        client.app.services.traces.close()
    spans = {span.name: span for span in collector.spans}
    request = spans["createBackend"]
    assert (request.trace_id.hex(), request.parent_span_id.hex()) == (TRACE, PARENT)
    for name in ("Validated", "Committed", "Reloaded"):
        assert (spans[name].trace_id, spans[name].parent_span_id) == (request.trace_id, request.span_id)
        assert spans[name].start_time_unix_nano <= spans[name].end_time_unix_nano
    assert attributes(request)["http.response.status_code"] == got.status == 201
    assert attributes(spans["Committed"])["dataplane.outcome"] == "reloaded"
    assert spans["GET"].trace_id != request.trace_id
    assert attributes(spans["GET"])["http.response.status_code"] == 404


def attributes(span: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes}


def test_nothing_is_sent_unless_somebody_names_a_collector(client: Client) -> None:
    assert client.app.services.traces is None
    assert traces.from_environment({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"}) is None


def test_a_missing_package_is_told(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.sdk.trace", None)
    assert traces.from_environment({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}) is None
    assert "pip install opentelemetry-sdk" in caplog.text
