import json

from haproxy_native.webhooks.message import CONTENT_TYPE, cloud_event, headers, source
from haproxy_native.webhooks.webhook import key
from tests.receiver import SECRET

EVENT = {"id": "17", "time": "2026-11-23T01:59:00.875Z", "type": "config", "object": "backend/b", "data": {"outcome": "live"}}


def test_the_signature_of_the_example_of_standard_webhooks() -> None:
    made = headers("msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330.7, b'{"test": 2432232314}', [key(SECRET)])
    assert made == {
        "Content-Type": CONTENT_TYPE,
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_each_key_signs() -> None:
    both = headers("1", 5, b"{}", [b"one", b"two"])["webhook-signature"].split()
    assert both == [headers("1", 5, b"{}", [each])["webhook-signature"] for each in (b"one", b"two")] and both[0] != both[1]


def test_a_cloud_event() -> None:
    shown = json.loads(cloud_event(source("lb 1"), 42, EVENT))
    assert shown == {
        "specversion": "1.0",
        "id": "17",
        "source": "//lb%201/v3/sidecar/events",
        "type": "dataplane.config",
        "subject": "backend/b",
        "time": "2026-11-23T01:59:00.875Z",
        "sequence": "0000000042",
        "datacontenttype": "application/json",
        "data": {"outcome": "live"},
    }
    assert "subject" not in json.loads(cloud_event("//a", 1, EVENT | {"object": ""}))


def test_bytes_that_are_no_text_are_sent() -> None:
    assert json.loads(cloud_event("//a", 1, EVENT | {"data": {"name": "\udcff"}}))["data"] == {"name": "\udcff"}
