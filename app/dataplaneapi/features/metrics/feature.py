"""The feature `metrics`, which serves `/metrics` in the text format of Prometheus.

It needs the package prometheus-client, which is in the extra `metrics`. The first request imports this package.
"""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.feature import Feature, Gauge
from dataplaneapi.api.responses import Response
from dataplaneapi.api.services import Services
from dataplaneapi.settings.packages import EXTRAS
from dataplaneapi.telemetry.counters import SECONDS, Durations
from dataplaneapi.version import VERSION
from haproxy_native.discovery.definitions import STATUS
from haproxy_native.errors import BadRequest, RuntimeFailure, Unreadable, Unusable
from haproxy_native.request_context import NOBODY
from haproxy_native.storage import certificate

if TYPE_CHECKING:
    from prometheus_client.core import Metric

MISSING = f"the metrics need the package prometheus-client: {EXTRAS['metrics'].remedy}"
CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
PATH = "/metrics"


async def exposition(services: Services) -> bytes:
    """Return the metrics. Raises ApiError if prometheus-client is not installed."""
    try:
        from prometheus_client import CollectorRegistry, generate_latest
    except ModuleNotFoundError:
        raise ApiError(501, MISSING) from None
    registry = CollectorRegistry(auto_describe=False)
    expiries = await asyncio.to_thread(_certificate_expiries, services)
    try:
        await services.engine.runtime.worker()
        is_up = True
    except RuntimeFailure:
        is_up = False
    registry.register(_Collected([*_families(services, is_up=is_up), expiries]))
    return generate_latest(registry)


class _Collected:
    def __init__(self, families: list["Metric"]) -> None:
        self._families = families

    def collect(self) -> list["Metric"]:
        return self._families


def _families(services: Services, *, is_up: bool) -> Iterator["Metric"]:
    """Yield all metrics except the expiries of certificates. `is_up`: whether HAProxy answers on the Runtime API."""
    from prometheus_client.core import GaugeMetricFamily

    tally, engine = services.tally, services.engine
    yield _counter("requests", "Requests answered, by operation of the document and status.", ["operation", "code"], tally.requests)
    yield _histogram("request_duration_seconds", "Time from a request's head to the end of its answer.", "operation", tally.latency)
    yield _histogram("validation_duration_seconds", "Time HAProxy took to check a configuration.", "outcome", tally.validations)
    yield _histogram("commit_duration_seconds", "Time of a commit, by what became of it.", "outcome", tally.commits)
    yield _histogram("reload_duration_seconds", "Time from the start of a reload to its proven outcome.", "outcome", tally.reloads)
    reasons = {keyword or "none": count for keyword, count in tally.reload_reasons.items()}
    yield _counter("reload_reasons", "Reloads that a keyword made necessary.", ["keyword"], reasons)
    yield _counter(
        "refused_logins", "Requests answered 401, 429 or 503, by what was wrong with their credentials.", ["reason"], services.gate.refused
    )
    yield _counter("audit_lines", "Lines of the audit log, by what has become of them.", ["outcome"], services.audit.counts)
    failures = engine.runtime.failures
    yield _counter("runtime_errors", "Calls of the Runtime API without an answer, or that HAProxy refused.", ["kind"], failures)
    yield _counter("live_commands", "Runtime commands of commits that HAProxy accepted.", ["kind"], tally.live_commands)
    yield _gauge("configuration_version", "Version of the configuration.", engine.version())
    yield _gauge("open_transactions", "Transactions in progress.", len(engine.transactions("in_progress", author=NOBODY)))
    yield _gauge("reload_pending", "Whether a reload is scheduled.", engine.reloads.pending is not None)
    yield _gauge("haproxy_up", "Whether HAProxy answers on the Runtime API.", is_up)
    yield _gauge("running_known", "Whether it is known what HAProxy has loaded.", engine.running is not None)
    yield _gauge("start_time_seconds", "When the server was started, in Unix time.", services.started)
    for feature in services.features.values():
        for gauge in feature.gauges():
            yield _gauge_of_feature(gauge)
    yield _gauge("build_info", "1, with the version as a label.", 1, {"version": VERSION})
    text = "Whether the last poll of a source of services succeeded."
    discovery = GaugeMetricFamily("dataplane_discovery_working", text, labels=["kind", "id", "name"])
    for kind, definitions in services.discovery.kinds.items():
        # Kinds of sources whose definitions cannot be read have no values.
        with suppress(Unusable, Unreadable):
            for definition in definitions.list_all():
                if STATUS in definition:
                    labels = [kind, definition["id"], definition.get("name", "")]
                    discovery.add_metric(labels, float(definition[STATUS]["state"] == "working"))
    yield discovery


def _certificate_expiries(services: Services) -> "Metric":
    """Return the metric that has the expiry of each stored certificate file. Files that cannot be read are omitted. Blocks."""
    from prometheus_client.core import GaugeMetricFamily

    text = "When the first certificate of a stored file expires, in Unix time."
    family = GaugeMetricFamily("dataplane_certificate_expiry_timestamp_seconds", text, labels=["name"])
    with suppress(Unusable):
        for path in services.engine.stores["ssl_certificates"].files():
            with suppress(OSError, BadRequest):
                about = path.stat()
                family.add_metric([path.name], _expiry(path, about.st_mtime_ns, about.st_size))
    return family


@lru_cache(maxsize=10_000)
def _expiry(path: Path, written: int, size: int) -> float:
    return certificate.parse_certificates(path.read_bytes()).expires.timestamp()


def _counter(name: str, text: str, labels: list[str], counts: Mapping[Any, int]) -> "Metric":
    from prometheus_client.core import CounterMetricFamily

    family = CounterMetricFamily(f"dataplane_{name}", text, labels=labels)
    for key, count in sorted(counts.items()):
        values = key if isinstance(key, tuple) else (key,)
        family.add_metric([str(value) or "none" for value in values], count)
    return family


def _histogram(name: str, text: str, label: str, durations: Mapping[str, Durations]) -> "Metric":
    from prometheus_client.core import HistogramMetricFamily

    family = HistogramMetricFamily(f"dataplane_{name}", text, labels=[label])
    for value, histogram in sorted(durations.items()):
        # A bucket of Prometheus includes the counts of all smaller buckets.
        buckets = list(zip([*map(str, SECONDS), "+Inf"], accumulate(histogram.counts), strict=True))
        family.add_metric([value or "none"], buckets, histogram.total)
    return family


def _gauge(name: str, text: str, value: float, labels: Mapping[str, str] = {}) -> "Metric":
    from prometheus_client.core import GaugeMetricFamily

    family = GaugeMetricFamily(f"dataplane_{name}", text, labels=list(labels))
    family.add_metric(list(labels.values()), float(value))
    return family


def _gauge_of_feature(gauge: Gauge) -> "Metric":
    from prometheus_client.core import GaugeMetricFamily

    if not isinstance(gauge.value, Mapping):
        return _gauge(gauge.name, gauge.text, gauge.value)
    family = GaugeMetricFamily(f"dataplane_{gauge.name}", gauge.text, labels=[gauge.label])
    for label, value in gauge.value.items():
        family.add_metric([label], value)
    return family


class MetricsFeature(Feature):
    """The feature `metrics`, which serves `/metrics` without credentials, like the probes."""

    def __init__(self, services: Services) -> None:
        async def respond() -> Response:
            return Response(200, await exposition(services), CONTENT_TYPE)

        self.public = (lambda exchange: respond() if exchange.path == PATH else None,)
