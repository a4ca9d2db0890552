"""`traceparent` as clients send it, and what of it reaches log lines and reload records."""

import logging

import pytest

from dataplaneapi.telemetry import trace_context
from tests.app.client import CONFIG, Client

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SENT = f"00-{TRACE}-{PARENT}-01"
FIELDS = {"trace_id": TRACE, "parent_id": PARENT}


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (SENT, FIELDS),
        (f"01-{TRACE}-{PARENT}-01-of-the-future", FIELDS),
        (f"00-{TRACE}-{PARENT}-01-more", {}),
        (f"ff-{TRACE}-{PARENT}-01", {}),
        (f"00-{'0' * 32}-{PARENT}-01", {}),
        (f"00-{TRACE}-{'0' * 16}-01", {}),
        (SENT.upper(), {}),
        ("", {}),
        ("nonsense", {}),
    ],
)
def test_header(header: str, found: dict[str, str]) -> None:
    assert trace_context.fields(header.encode()) == found


def test_a_reload_record_names_the_requests_that_asked_for_it(client: Client) -> None:
    first = client.post(f"{CONFIG}/backends?version=1", {"name": "one"}, headers={"traceparent": SENT})
    second = client.post(f"{CONFIG}/backends?version=2", {"name": "two"})
    record = client.get(f"/v3/sidecar/reloads/{first.headers['Reload-Id']}").json
    assert record["origins"] == [
        {"request_id": first.headers["X-Request-Id"], **FIELDS},
        {"request_id": second.headers["X-Request-Id"]},
    ]


def test_lines_of_a_request_tell_which(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    from dataplaneapi.telemetry.log import Layout

    layout, lines = Layout("%r"), []

    class Written(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(layout.format(record))

    handler = Written()
    logging.getLogger().addHandler(handler)
    try:
        with caplog.at_level(logging.INFO):
            got = client.post(f"{CONFIG}/backends?version=1", {"name": "one"}, headers={"traceparent": SENT})
    finally:
        logging.getLogger().removeHandler(handler)
    traced = [line for line in lines if "needs a reload" in line or "POST /v3" in line]
    assert len(traced) == 2
    assert all(got.headers["X-Request-Id"] in line and TRACE in line for line in traced)
