from typing import Any

import pytest

from dataplaneapi.settings.table import SettingsError, combine
from dataplaneapi.settings.webhooks import read_webhooks
from haproxy_native.webhooks.webhook import SENDABLE, Webhook
from tests.receiver import SECRET

GIVEN = {"name": "ops", "url": "https://hooks.example.com/haproxy", "secret": SECRET}


def test_one_with_all_its_members() -> None:
    more = {"types": ["config", "reload"], "object": "backend/shop", "ca_file": "/etc/ca.pem"}
    assert read_webhooks([GIVEN, GIVEN | more | {"name": "b"}]) == [
        Webhook("ops", GIVEN["url"], SECRET, types=SENDABLE),
        Webhook("b", GIVEN["url"], SECRET, types=("config", "reload"), object="backend/shop", ca_file="/etc/ca.pem"),
    ]
    assert "stats" not in SENDABLE


def test_they_are_settings() -> None:
    assert combine({}, {}, {"dataplaneapi": {"webhooks": [GIVEN]}}).webhooks == [GIVEN]
    with pytest.raises(SettingsError, match="dataplaneapi.webhooks: ops: url is as in"):
        combine({}, {}, {"dataplaneapi": {"webhooks": [GIVEN | {"url": "ftp://a"}]}})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": ""}, "number 1 needs a name"),
        ({"name": "a/b"}, "not 'a/b'"),
        ({"nosuch": 1}, "has no member 'nosuch'"),
        ({"url": 5}, "url is a text"),
        ({"url": ""}, "url is as in https://"),
        ({"url": "http://user:word@host/"}, "without a user"),
        ({"url": "http://host:99999/"}, "[Pp]ort"),
        ({"secret": ""}, "either secret or secret_file"),
        ({"secret_file": "/a"}, "either secret or secret_file"),
        ({"secret": "simple"}, "openssl rand"),
        ({"types": "config"}, "types is a list"),
        ({"types": []}, "types is a list"),
        ({"types": ["config", "nosuch"]}, "'nosuch' is no type"),
        ({"types": ["stats"]}, "stats are not sent"),
    ],
)
def test_what_cannot_be(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_webhooks([GIVEN | change])


def test_two_of_one_name() -> None:
    with pytest.raises(ValueError, match="two have the name ops"):
        read_webhooks([GIVEN, GIVEN])
