"""The servers of one backend, before and after: commands in their order, or the reason against."""

import pytest

from haproxy_native.grammar.load import grammar
from haproxy_native.planning.outcome import SectionPlan
from haproxy_native.planning.server_plan import ServerPlanner
from haproxy_native.planning.servers import EffectiveServer, Servers
from haproxy_native.runtime.capabilities import Capabilities
from haproxy_native.runtime.verification import Shows
from haproxy_native.text.document import Document

ALL = frozenset({"set server", "add server", "del server"})
SERVERS = Servers(grammar())


def servers(*lines: str) -> list[EffectiveServer]:
    document = Document.parse(("backend b\n" + "".join(f"  server {line}\n" for line in lines)).encode())
    found = SERVERS.read_section(document, document.sections[0])
    return list(found.servers) if found else []


def planned(before: list[str], after: list[str], capabilities: Capabilities) -> SectionPlan:
    planner = ServerPlanner(SERVERS, capabilities, "b")
    planner.plan(servers(*before), servers(*after))
    return planner.result


A, B, C = "a 192.0.2.1:80", "b 192.0.2.2:80 weight 5 disabled", "c 192.0.2.3:80"
AGENT, OFF = " agent-check agent-port 9", " no-agent-check agent-port 9"
ADD_C = ["add server b/c 192.0.2.3:80", "set server b/c state ready"]
LIVE = [
    ([A, B], [A, B], []),
    ([A], [A, C], ADD_C),
    ([A, B], [A, C], ["set server b/b state maint", "del server b/b", *ADD_C]),
    ([A], [A + " weight 3", C], ["set server b/a weight 3", *ADD_C]),
    ([], [C], ADD_C),
    ([A], [], ["set server b/a state maint", "del server b/a"]),
    ([], [C + " check agent-check agent-port 9"], None),
]


@pytest.mark.parametrize(("before", "after", "texts"), LIVE)
def test_live(before: list[str], after: list[str], texts: list[str] | None) -> None:
    planner = planned(before, after, Capabilities((3, 2), ALL, "admin"))
    assert planner.reasons == []
    said = [each.text for each in planner.commands]
    assert set(planner.places) == set(said)
    if texts is not None:
        assert said == texts
    else:
        assert said[1:] == ["enable health b/c", "enable agent b/c", "set server b/c state ready"]


def test_each_command_has_its_line() -> None:
    planner = planned([A, B], [A + " weight 3", B, C], Capabilities((3, 2), ALL, "admin"))
    assert [planner.places[command.text] for command in planner.commands] == [1, 3, 3]


def test_a_refused_deletion_puts_the_server_back_as_it_was() -> None:
    planner = planned([A, B], [], Capabilities((3, 2), ALL, "admin"))
    assert [each.undo for each in planner.commands if each.undo] == ["set server b/a state ready", "set server b/b state maint"]


def test_an_agent_that_is_switched_on_again_is_where_a_fresh_one_is() -> None:
    """While it is off, the file can change what is then not sent to HAProxy."""
    planner = planned([A + OFF], [A + AGENT], Capabilities((3, 2), ALL, "admin"))
    assert [each.check for each in planner.commands] == [
        Shows("b", "a", (("agent_enabled", True), ("agent_addr", "-"), ("agent_port", 9), ("iweight", 1)))
    ]
    planner = planned([A + " no-agent-check port 7 weight 3"], [A + " agent-check port 7 weight 3"], Capabilities((3, 2), ALL, "admin"))
    assert planner.commands[0].check == Shows("b", "a", (("agent_enabled", True), ("agent_addr", "-"), ("agent_port", 7), ("iweight", 3)))


def test_a_server_without_checks_any_more_has_to_be_seen_up() -> None:
    """A check that is under way when checks are switched off would still take it down, and none would bring it back."""
    planner = planned([A + " check"], [A], Capabilities((3, 2), ALL, "admin"))
    assert {each.check for each in planner.commands} == {Shows("b", "a", (("check_enabled", False), ("check_settled", True)))}


def test_an_added_server_keeps_idle_connections_as_one_of_the_file_does() -> None:
    """Up to 2.7 only when it is given."""
    words = {version: planned([], [C], Capabilities(version, ALL, "admin")).commands[0].text for version in ((2, 6), (2, 8))}
    assert words == {(2, 6): "add server b/c 192.0.2.3:80 pool-max-conn -1 pool-purge-delay 5s", (2, 8): "add server b/c 192.0.2.3:80"}
    own = planned([], [C + " pool-max-conn 3"], Capabilities((2, 6), ALL, "admin")).commands[0].text
    assert own == "add server b/c 192.0.2.3:80 pool-max-conn 3 pool-purge-delay 5s"


@pytest.mark.parametrize(
    ("words", "more"),
    [
        ("ssl verify none check", " check-ssl"),
        ("ssl verify none", ""),
        ("ssl verify none check port 9", ""),
        ("ssl verify none check no-check-ssl", ""),
        ("send-proxy check", " check-send-proxy"),
        ("send-proxy-v2 check addr 192.0.2.8", ""),
    ],
)
def test_the_checks_of_an_added_server_are_told_what_a_line_implies(words: str, more: str) -> None:
    said = planned([], [f"{C} {words}"], Capabilities((3, 2), ALL, "admin")).commands[0].text
    assert [word for word in said.split() if word.startswith("check-")] == more.split()


RELOADS = [
    ([A, C], [C, A], "the order of the servers changed"),
    ([A], [C, A], "the order of the servers changed"),
    ([A], [A, A], "two servers have the same name"),
    ([A], [A + " fancy"], "unknown words changed"),
    ([A], [A, C + " fancy"], "unknown words fancy"),
    ([A], [A + " rise 3"], "rise cannot be changed in the running process"),
    ([A], [A, C + " cookie ${C}"], "only HAProxy can resolve ${C}"),
    ([A], [A, "c localhost:80"], "address: 'localhost' is not an IP address"),
    ([A], [A, "c 192.0.2.3:0"], "port: 0 is outside 1..65535"),
    ([A], [A, C + " agent-addr localhost"], "agent-addr: 'localhost' is not an IP address"),
    ([A], [A, C + " addr ::1:5"], "health_check_address: '[::1]:5' is not an IP address"),
    ([A], [A, C + " source localhost"], "source: 'localhost' is not an IP address"),
    ([A], ["a localhost:80"], "address cannot be changed in the running process"),
    (["a localhost:80"], ["a other.example:80"], "address cannot be changed in the running process"),
    (["a localhost:80"], ["a localhost:81"], "port cannot be changed in the running process"),
    ([A], [A, '"${N}" 192.0.2.3:80'], "only HAProxy can resolve the name ${N}"),
    ([A + " check"], [A + " check ssl verify none"], "ssl, verify cannot be changed in the running process"),
    ([A + AGENT], [A + AGENT + " weight 3"], "weight cannot be changed in the running process together with agent-check"),
    (
        [A + AGENT],
        [A + AGENT + " addr 192.0.2.9"],
        "health_check_address cannot be changed in the running process together with agent-check",
    ),
    (
        [A + " agent-check port 9"],
        [A + " agent-check port 8"],
        "health_check_port cannot be changed in the running process together with agent-check",
    ),
    ([A + OFF + " addr 192.0.2.8"], [A + AGENT + " agent-addr 192.0.2.9 addr 192.0.2.8"], "agent-addr"),
    # Neither ssl nor send-proxy holds for the checks of a server with an addr or a port of its own.
    *(
        ([f"{A} check {words}"], [f"{A} check {words} {own}"], f"cannot be changed in the running process together with {words.split()[0]}")
        for words in ("ssl verify none", "send-proxy", "send-proxy-v2")
        for own in ("addr 192.0.2.9", "port 9")
    ),
    ([A + " hash-key addr"], ["a 192.0.2.7:80 hash-key addr"], "address cannot be changed in the running process together with hash_key"),
    ([A + " minconn 5 maxconn 10"], [A + " minconn 5"], "maxconn cannot be changed in the running process together with minconn"),
    ([A + " minconn 5 maxconn 10"], [A + " maxconn 10"], "minconn cannot be changed in the running process"),
    ([A], [A, C + AGENT + " disabled"], "HAProxy queries the agent of a server that is added in maintenance"),
    ([A], [A, C + AGENT + " check disabled"], "HAProxy queries the agent of a server that is added in maintenance"),
]


@pytest.mark.parametrize(("before", "after", "why"), RELOADS)
def test_reloads(before: list[str], after: list[str], why: str) -> None:
    planner = planned(before, after, Capabilities((3, 2), ALL, "admin"))
    assert [why in said for _, said in planner.reasons] == [True]


@pytest.mark.parametrize(
    ("before", "after", "capabilities"),
    [
        ([A], [A + " weight 3"], Capabilities((3, 2), ALL - {"set server"}, "admin")),
        ([A], [A + " weight 3"], Capabilities((3, 2), ALL, "operator")),
        ([A], [A, C], Capabilities((2, 4), ALL, "admin")),
        ([A], [], Capabilities((2, 4), ALL, "admin")),
        ([A], [A, C + " cookie x"], Capabilities((3, 2), ALL, "admin", frozenset({"weight"}))),
    ],
)
def test_what_this_haproxy_or_its_socket_cannot(before: list[str], after: list[str], capabilities: Capabilities) -> None:
    planner = planned(before, after, capabilities)
    assert len(planner.reasons) == 1
    assert planner.commands == []
