"""The lines of an object in a configuration."""

from dataplaneapi.ctl.commands.get import lines_of
from dataplaneapi.ctl.objects import parse_object

TEXT = """\
# _version=3
global
    log 127.0.0.1 local0

# about site
frontend site
    bind :80 name one
    bind :81
    http-request deny

backend shop from plain
    server a 127.0.0.1:1
    # a comment
    server b 127.0.0.1:2
    backend_is_no_section 1
# about peers
peers other
    peer x 127.0.0.1:3
"""


def test_sections_with_the_comments_above_them() -> None:
    assert lines_of(TEXT, parse_object(["frontend/site"])).startswith("# about site\nfrontend site\n")
    assert lines_of(TEXT, parse_object(["backend"])).endswith("    backend_is_no_section 1\n")
    assert lines_of(TEXT, parse_object(["peers/other"])) == "# about peers\npeers other\n    peer x 127.0.0.1:3\n"
    assert lines_of(TEXT, parse_object(["backend/nope"])) == ""
    assert "log 127" in lines_of(TEXT, parse_object(["global"]))


def test_lines_by_name_and_by_place() -> None:
    assert lines_of(TEXT, parse_object(["backend/shop/server/b"])) == "    server b 127.0.0.1:2\n"
    assert lines_of(TEXT, parse_object(["backend/shop/server"])).count("server") == 2
    assert lines_of(TEXT, parse_object(["frontend/site/bind/one"])) == "    bind :80 name one\n"
    assert lines_of(TEXT, parse_object(["frontend/site/bind/:81"])) == "    bind :81\n"
    assert lines_of(TEXT, parse_object(["frontend/site/http_request_rule/0"])) == "    http-request deny\n"
    assert lines_of(TEXT, parse_object(["global/log_target/0"])) == "    log 127.0.0.1 local0\n"
    assert lines_of(TEXT, parse_object(["peers/other/peer_entry/x"])) == "    peer x 127.0.0.1:3\n"
