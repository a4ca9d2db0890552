"""Return the configured values of servers in backends and listen sections."""

import pytest

from haproxy_native.editing.editor import Editor
from haproxy_native.features.overrides.ledger import ABSENT, Override, configured_values
from haproxy_native.text.document import Document

TEXT = """\
backend shop
  server web1 10.0.0.1:80 weight 20
  server off 10.0.0.1 disabled
  server-template t 2 10.0.0.2:80
listen shops
  server web1 10.0.0.3:80
backend empty
"""


@pytest.mark.parametrize(
    ("object_", "member", "value"),
    [
        ("backend/shop/server/web1", "weight", "20"),
        ("backend/shop/server/web1", "address", "10.0.0.1"),
        ("backend/shop/server/web1", "port", "80"),
        ("backend/shop/server/web1", "admin_state", "ready"),
        ("backend/shop/server/off", "admin_state", "maint"),
        ("backend/shop/server/off", "port", "None"),
        ("backend/shop/server/t1", "weight", ABSENT),
        ("backend/shops/server/web1", "address", "10.0.0.3"),
        ("backend/empty/server/web1", "address", ABSENT),
        ("backend/none/server/web1", "address", ABSENT),
    ],
)
def test_values(object_: str, member: str, value: str) -> None:
    known = Override(object_, member, 5, 6, 0.0)
    assert configured_values(Editor(), Document.parse(TEXT), [known]) == {(object_, member): value}
