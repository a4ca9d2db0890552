"""The configuration that these tests edit."""

from haproxy_native.objects.configuration import Configuration, parse

TEXT = """\
global
    maxconn 5   # five

defaults base
    mode http

backend www from base   # ours
    balance   roundrobin
    http-request deny if { path /x }   # first
    zork
    http-request zork
    http-request allow
    server  web1  127.0.0.1:80   weight 3 # one
    server web2 127.0.0.1:81 check
"""


def configuration() -> Configuration:
    return parse(TEXT)


def lines(configuration: Configuration) -> list[str]:
    """Those that the text did not have."""
    return [line for line in str(configuration).splitlines() if line not in TEXT.splitlines()]
