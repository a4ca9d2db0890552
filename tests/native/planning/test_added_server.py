"""From members to `add server`, whatever they hold."""

from ipaddress import ip_address
from typing import Any

import pytest

from haproxy_native.errors import BadValue
from haproxy_native.planning.live import NotExpressible
from haproxy_native.planning.server_plan import add_server_commands
from haproxy_native.runtime.capabilities import Capabilities
from haproxy_native.runtime.verification import Shows

NEW, OLD = Capabilities(version=(3, 2)), Capabilities(version=(2, 8))
PLACE = {"name": "d", "address": "127.0.0.1", "port": 80}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "127.0.0.1:80"),
        ({"port": None, "address": "::1"}, "[::1]"),
        ({"npn": "h2", "weight": 0}, "127.0.0.1:80 npn h2 weight 0"),
        ({"agent-send": "two words;"}, r"127.0.0.1:80 agent-send two\ words\;"),
        ({"source": "1.2.3.4 usesrc clientip"}, "127.0.0.1:80 source 1.2.3.4 usesrc clientip"),
        ({"sni": "req.hdr(host),lower"}, "127.0.0.1:80 sni req.hdr(host),lower"),
        ({"proxy-v2-options": ["ssl", "cert-cn"]}, "127.0.0.1:80 proxy-v2-options ssl,cert-cn"),
        ({"no_tlsv12": "enabled", "no_tlsv13": "disabled"}, "127.0.0.1:80 no-tlsv12"),
        ({"no_sslv3": "enabled", "force_tlsv12": "enabled"}, "127.0.0.1:80 no-sslv3 force-tlsv12"),
        ({"inter": 5000, "source": "[::1]", "fall": 3, "backup": "enabled"}, "127.0.0.1:80 inter 5000 source [::1] fall 3 backup"),
        ({"ssl_reuse": "disabled", "ssl": "disabled"}, "127.0.0.1:80 no-ssl-reuse"),
        ({"maintenance": "enabled"}, "127.0.0.1:80 disabled"),
        ({"maintenance": "disabled"}, "127.0.0.1:80"),
    ],
)
def test_one_command(values: dict[str, Any], words: str) -> None:
    given = {name: value for name, value in {**PLACE, **values}.items() if value is not None}
    assert [command.text for command in add_server_commands("b", given, NEW)] == [f"add server b/d  {words}"]


def test_before_3_0_it_may_be_ready_at_once() -> None:
    assert add_server_commands("b", {**PLACE, "maintenance": "disabled"}, OLD)[0].text == "add server b/d  127.0.0.1:80 enabled"


def test_checks_that_were_asked_for_are_enabled() -> None:
    made = add_server_commands("b", {**PLACE, "check": "enabled", "agent-check": "enabled", "agent-port": 9}, NEW)
    assert [command.text for command in made][1:] == ["enable health b/d", "enable agent b/d"]
    assert made[0].undo == "del server b/d"


def test_a_re_read_has_to_show_addresses_and_ports() -> None:
    values = {**PLACE, "health_check_address": "127.0.0.2", "health_check_port": 81, "source": "127.0.0.3", "weight": 5}
    shown = {"address": ip_address("127.0.0.1"), "port": 80, "check_addr": ip_address("127.0.0.2"), "check_port": 81, "uweight": 5}
    (command,) = add_server_commands("b", values, NEW)
    assert isinstance(command.check, Shows) and dict(command.check.members) == shown


MISREAD = [
    {"address": "localhost"},
    {"address": "127.1"},
    {"address": "/run/app.sock"},
    {"port": 0},
    {"agent-addr": "localhost"},
    {"health_check_address": "::1:5"},
    {"source": "localhost usesrc clientip"},
    {"weight": 257},
]


@pytest.mark.parametrize(
    ("values", "error"),
    [({"name": "a\nb"}, BadValue), ({"sni": "${X}"}, NotExpressible), *((values, BadValue) for values in MISREAD)],
)
def test_what_cannot_be_said(values: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        add_server_commands("b", {**PLACE, **values}, NEW)
