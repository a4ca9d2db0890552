import pytest

from haproxy_native.features.confirmations.guard import affected_sections
from haproxy_native.text.document import Document

TEXT = """\
global
  maxconn 10
defaults
  mode http
  errorfile 503 /etc/haproxy/503.http
frontend old
  bind :1
defaults plain
  mode http
cache pages
  total-max-size 4
frontend site from plain
  bind :2 ssl crt /etc/ssl/site.pem
  use_backend %[path,map(/etc/maps/hosts.map)]
backend app from plain # from elsewhere
  http-request cache-use pages
listen late
  bind :3 ssl crt /etc/ssl/xsite.pem
"""


@pytest.mark.parametrize(
    ("objects", "found"),
    [
        (["backend/app"], "app"),
        (["backend/app/server/one", "frontend/gone"], "app gone"),
        (["defaults/plain"], "app late site"),
        (["defaults/unnamed_defaults_1/http_error/1"], "old"),
        (["map/hosts.map"], "site"),
        (["certificate/site.pem"], "site"),
        (["general/503.http"], "old"),
        (["cache/pages"], "app"),
        (["global"], "app late old site"),
        (["peer_section/none"], ""),
        ([], ""),
    ],
)
def test_sections(objects: list[str], found: str) -> None:
    assert sorted(affected_sections(Document.parse(TEXT.encode()), objects)) == found.split()
