"""A configuration in which every kind of object is named, with files beside it."""

from collections.abc import Mapping

from haproxy_native.references.lines import find_target
from haproxy_native.references.object_references import References, references_to_object
from haproxy_native.text.document import Document

TEXT = """\
global
  localpeer me
  lua-load /x/a.lua
defaults d
  mode http
userlist people
  group admins users ann,bob
  user ann insecure-password x groups admins,other
peers mates
  peer me 127.0.0.1:1024
  table seen type ip size 1k store gpc0
frontend site from d
  bind :80 name b
  filter spoe engine e config /x/e.spoe
  filter bwlim-out slow default-limit 1m default-period 1s
  acl api path_beg /api   # api
  acl admin http_auth_group(people) admins
  use_backend "shop" if api or !admin   # shop
  use_backend %[req.hdr(host),map(/x/hosts.map,shop)] if { acl(api) } { nbsrv(shop) gt 1 }
  http-request set-bandwidth-limit slow
  http-request set-var(txn.be) src,map(/x/addresses.map)
  http-request set-var-fmt(txn.be) shop if api
  use_backend %[var(txn.be)]
  http-request track-sc0 src table shop
  http-request track-sc1 src table mates/seen
  http-request deny if { sc_http_req_rate(0,shop) gt 1 } api
  default_backend sh"op"
backend shop
  stick-table type ip size 1k store http_req_rate(10s) peers mates
  use-server web1 if { srv_is_up(shop/web1) } { always_true }
  server web1 1.1.1.1:80 track shop/web1 resolvers dns
backend shop2 from d
  server web1 1.1.1.1:80 ssl crt /x/certs/shop.pem
resolvers dns
"""
FILES = {
    "/x/hosts.map": "a shop\n# shop\nb  shop2\n  c\tshop \n",
    "/x/addresses.map": "10.0.0.1 shop",
    "/x/a.lua": "-- go\nx = 'shop'\n",
    "/x/e.spoe": "[e]\nspoe-agent a\n  use-backend shop\n",
}


def found(object_: str, text: str = TEXT, files: Mapping[str, str] = FILES) -> References:
    document = Document.parse(text)
    return references_to_object(document, find_target(document, object_), "/x", files.get)


def lines(references: References) -> list[str]:
    sections = references.document.sections
    return [
        f"{spot.how}: {sections[spot.section_index].lines[spot.line].text.strip()}" for spot in (*references.spots, *references.through)
    ]
