"""Answers as HAProxy gave them."""

import pytest

from haproxy_native.runtime import responses as answers
from haproxy_native.runtime.responses import ListedProcess
from tests.haproxy.process import HAProxy

REFUSALS = [
    "No such server.",
    "No such backend.",
    "No such frontend.",
    "Integer value expected.",
    "Permission denied",
    "Absolute weight can only be between 0 and 256 inclusive.",
    "Backend is using a static LB algorithm and only accepts weights '0%' and '100%'.",
    "Invalid addr 'bogus' by 'stats socket command'",
    "Invalid addr 'bogus'",
    "Update for the current server address family is only supported through configuration file.",
    "IP changed from '127.0.0.1' to '127.0.0.2', problem converting port 'x' to an int by 'stats socket command'",
    "no need to change the addr, can't change <port> to port map because it is incompatible with current health check port configuration",
    "'set server <srv> state' expects 'ready', 'drain' and 'maint'.",
    "health checks are not enabled on this server",
    "provided port is invalid",
    "agent checks are not enabled on this server.",
    "set server <b>/<s> fqdn failed because no resolution is configured.",
    "'set server <srv> ssl' cannot be set.  default-server should define ssl settings",
    "maxconn string empty or preceded by garbage",
    "Agent was not configured on this server, cannot enable.",
    "Health check was not configured on this server, cannot enable.",
    "Already exists a server with the same name in backend.",
    "'resolvers' option is not accepted for dynamic server",
    "Backend must use a dynamic load balancing to support dynamic servers.",
    "Only servers in maintenance mode can be deleted.",
    "Server still has connections attached to it, cannot remove it.",
    "usage: set server <backend>/<server> addr | agent | agent-addr | weight",
]
SUCCESSES = [
    "",
    "\n",
    "New server registered.",
    "Keyword 'enabled' is ignored for dynamic servers. It will be rejected from 3.0 onward.\nNew server registered.",
    "Server deleted.",
    "Done.",
    "IP changed from '127.0.0.1' to '127.0.0.2', port changed from '1' to '77' by 'stats socket command'",
    "port changed from '1' to '77' by 'stats socket command'",
    "IP changed from '127.0.0.2' to '::1', no need to change the port by 'stats socket command'",
    "no need to change the addr, no need to change the port by 'stats socket command'",
    "nothing changed",
    "app/b changed its FQDN from a.example to invalid.example by 'stats socket command'",
    "no need to change the FDQN by 'stats socket command'",
    "server ssl setting updated.",
]


@pytest.mark.parametrize("answer", REFUSALS)
def test_refusals(answer: str) -> None:
    assert answers.refusal(answer + "\n") == answer


@pytest.mark.parametrize("answer", SUCCESSES)
def test_successes(answer: str) -> None:
    assert answers.refusal(answer) is None


def test_an_unknown_command_is_refused_in_one_line() -> None:
    text = "Unknown command: 'wait', but maybe one of the following ones is a better match:\n  show info  : x"
    assert answers.refusal(text) == text.splitlines()[0]


@pytest.mark.parametrize(
    ("text", "version"),
    [("2.6.12-1+deb12u4", (2, 6)), ("3.4-dev6-1a2b3c4", (3, 4)), ("3.2.26-1", (3, 2)), ("HAProxy version 2.8.25", (2, 8)), ("", (0, 0))],
)
def test_versions(text: str, version: tuple[int, int]) -> None:
    assert answers.version(text) == version


def test_info_keeps_values_with_colons() -> None:
    facts = answers.info("Name: HAProxy\nPid: 7\nStopping: 0\nBuild info: a: b\ndescription: \n\n")
    assert facts["Pid"] == "7" and facts["Build info"] == "a: b" and facts["description"] == ""


SHOW_PROC = {
    "2.6": """#<PID>          <type>          <reloads>       <uptime>        <version>
12499           master          2 [failed: 1]   0d00h00m03s     2.6.12-1+deb12u4
# workers
12505           worker          1               0d00h00m02s     2.6.12-1+deb12u4
# old workers
12501           worker          3               0d00h00m09s     2.6.12-1+deb12u4
# programs
12600           api             0               0d00h00m09s     -

""",
    "3.2 after a failed reload": """#<PID>          <type>          <reloads>       <uptime>        <version>
12787           master          4 [failed: 1]   0d00h00m03s     3.2.26-1
# workers
# old workers
12797           worker          1               0d00h00m02s     3.2.26-1

""",
    "2.4": """#<PID>          <type>          <relative PID>  <reloads>       <uptime>        <version>
100             master          0               5 [failed: 0]   0d00h00m08s     2.4.22
# workers
101             worker          1               0               0d00h00m08s     2.4.22
""",
}


def test_processes() -> None:
    now = answers.processes(SHOW_PROC["2.6"])
    assert now.master == ListedProcess(12499, "master", 2, 1, "2.6.12-1+deb12u4")
    assert [worker.pid for worker in now.workers] == [12505] and now.old_workers[0].reloads == 3
    assert now.pids == {12505, 12501}


def test_processes_after_a_failed_reload() -> None:
    now = answers.processes(SHOW_PROC["3.2 after a failed reload"])
    assert now.master and now.master.failed == 1 and not now.workers and [old.pid for old in now.old_workers] == [12797]


def test_processes_with_relative_pids() -> None:
    now = answers.processes(SHOW_PROC["2.4"])
    assert now.master and (now.master.reloads, now.master.failed) == (5, 0) and now.workers[0].pid == 101


def test_processes_of_nothing() -> None:
    assert answers.processes("").master is None


def test_real_answers(haproxy: HAProxy) -> None:
    now = answers.processes(haproxy.ask_master("show proc"))
    assert now.master and now.master.pid == haproxy.pid
    assert [worker.pid for worker in now.workers] == [haproxy.worker_pid()]
    assert answers.version(haproxy.ask("show version")) == haproxy.version
    words = answers.command_words(haproxy.ask("help"))
    assert {"add server", "del server", "set server", "set maxconn server", "enable health", "show stat", "show servers state"} <= words
    assert ("wait" in words) == (haproxy.version >= (3, 0))
    rows = {row["svname"]: row for row in answers.table(haproxy.ask("show stat app 4 -1"))}
    assert rows["plain"]["slim"] == "20" and rows["plain"]["pxname"] == "app"


def test_a_table_of_nothing() -> None:
    assert list(answers.table("")) == []
