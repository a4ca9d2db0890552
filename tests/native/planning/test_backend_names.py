"""Which lines give the name of a backend when a request comes, and which only hold the same word."""

import pytest

from haproxy_native.planning.backend_plan import describe_dynamic_rule
from haproxy_native.text.document import Document

HEAD = "# above\nglobal\n  daemon\n\nfrontend web\n  bind :80\n"
NAMING = [
    "use_backend %[path,map(routes.map,shop)]",
    "use_backend %[str(shop)]",
    "use_backend %[req.hdr(x),iif( shop , app )]",
    "http-request set-var(txn.be) str('shop')",
    "http-request set-var-fmt(txn.be) shop",
    "acl few nbsrv(shop) lt 2",
    "acl one srv_is_up(shop/web1)",
]
NOT = [
    "use_backend %[path,map(shop.map,app)]",
    "use_backend be_%[req.hdr(x)]",
    "http-request set-path /shop",
    "http-request set-header shop %[str(shopping)]",
    "# use_backend %[str(shop)]",
]


@pytest.mark.parametrize("line", NAMING)
def test_what_gives_the_name(line: str) -> None:
    document = Document.parse(f"{HEAD}  {line}\n")
    assert describe_dynamic_rule(document, "shop") == f"{line.split()[0]} in frontend web, line 7, names it"


@pytest.mark.parametrize("line", NOT)
def test_what_does_not(line: str) -> None:
    assert describe_dynamic_rule(Document.parse(f"{HEAD}  {line}\n"), "shop") == ""
