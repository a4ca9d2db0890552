"""What is sent of an event: a CloudEvent 1.0 as JSON, signed as Standard Webhooks have it. Pure."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

CONTENT_TYPE = "application/cloudevents+json"
PREFIX = "dataplane."


def source(name: str) -> str:
    """The events of the server of that name, as a URI reference."""
    return f"//{quote(name, safe='')}/v3/sidecar/events"


def cloud_event(source: str, sequence: int, event: Mapping[str, Any]) -> bytes:
    """An event with its place among those of one webhook, which rises by one from event to event."""
    shown = {
        "specversion": "1.0",
        "id": event["id"],
        "source": source,
        "type": f"{PREFIX}{event['type']}",
        "subject": event["object"],
        "time": event["time"],
        "sequence": f"{sequence:010d}",
        "datacontenttype": "application/json",
        "data": event["data"],
    }
    # A subject is not empty.
    text = json.dumps({name: value for name, value in shown.items() if value != ""}, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def headers(id_: str, now: float, body: bytes, keys: Sequence[bytes]) -> dict[str, str]:
    """Returns the headers of one attempt at the Unix time `now`; the keys sign id, time and body."""
    stamp = str(int(now))
    signed = b"%b.%b.%b" % (id_.encode(), stamp.encode(), body)
    signatures = [base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode() for key in keys]
    return {
        "Content-Type": CONTENT_TYPE,
        "webhook-id": id_,
        "webhook-timestamp": stamp,
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }
