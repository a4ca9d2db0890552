"""`ctl events` and `ctl top`."""

import functools
import json
import os
import pty
import re
import signal
import subprocess

import httpx2

from dataplaneapi.ctl import output
from dataplaneapi.ctl.commands import watch
from tests.acceptance.quick import Quick
from tests.app.ctl.calls import Ctl
from tests.haproxy.sidecar import COMMAND

TOP = """\
OBJECT STATE SESSIONS MAX RATE REQUESTS IN OUT DENIED ERRORS 5XX MS
backend/shop up # # # # # # # # # #
backend/shop/server/web1 no check # # # # # # # # # #
backend/shop/server/web2 no check # # # # # # # # # #
frontend/site open # # # # # # # # # #
"""


def without_numbers(table: str) -> str:
    """The table with one space between columns and `#` for each number: other tests send requests to the same HAProxy."""
    return re.sub(r" +", " ", re.sub(r" [\d.]+[kMG]?(?= |$)", " #", table, flags=re.MULTILINE))


def test_events_come_one_a_line(ctl: Ctl, sidecar: Quick) -> None:
    sidecar.put_server("web1", {"weight": 51}, "shop")
    lines = ctl.output("events", "--types", "config", "--since", "1h", "--end-after", "1s", "--object", "backend/shop").splitlines()
    assert lines and lines[-1].split()[1:3] == ["config", "backend/shop/server/web1"]
    first = json.loads(ctl.output("events", "--snapshot", "--end-after", "1s", "-o", "json").splitlines()[0])
    assert first["type"] == "snapshot"


def test_each_event_runs_a_command(ctl: Ctl, sidecar: Quick) -> None:
    for weight in (52, 53):
        sidecar.put_server("web1", {"weight": weight}, "shop")
    words = ("events", "--types", "config", "--since", "1h", "--end-after", "1s", "--object", "backend/shop")
    events = [json.loads(line) for line in ctl.output(*words, "-o", "json").splitlines()]
    line = [str(COMMAND), "ctl", *words, "--exec", 'echo "$EVENT_ID $EVENT_TYPE $EVENT_OBJECT"; cat; exit 3']
    done = subprocess.run(line, env=dict(ctl.environment), capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and [json.loads(line) for line in lines[1::2]] == events, done
    assert lines[-2].split() == [events[-1]["id"], "config", "backend/shop/server/web1"]
    assert done.stderr.splitlines() == [f"event {event['id']} (config): the command ended with status 3" for event in events]


def test_ctrl_c_ends_a_stream_without_a_word(ctl: Ctl) -> None:
    words = [str(COMMAND), "ctl", "events", "--snapshot"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    # Tests that run in the background have it ignored, and what they start with them.
    default = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(words, env=dict(ctl.environment), preexec_fn=default, text=True, **pipes) as process:
        assert process.stdout is not None and "snapshot" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert (process.returncode, said) == (130, "")


def test_top_is_plain_in_a_file(ctl: Ctl) -> None:
    assert without_numbers(ctl.output("top")) == TOP
    rows = json.loads(ctl.output("top", "-o", "json", "--object", "frontend/site", "--sort", "rate"))
    assert [row["object"] for row in rows] == ["frontend/site"]


def test_stats_of_all_and_of_one_proxy(ctl: Ctl) -> None:
    assert without_numbers(ctl.output("stats")) == TOP
    assert [row["object"] for row in json.loads(ctl.output("stats", "site", "-o", "json"))] == ["frontend/site"]
    assert [row["object"] for row in json.loads(ctl.output("stats", "shop", "-o", "json"))] == [
        "backend/shop",
        "backend/shop/server/web1",
        "backend/shop/server/web2",
    ]
    assert "no frontend or backend 'nope'" in ctl.refusal(1, "stats", "nope")


def test_top_takes_a_screen_of_its_own_and_gives_it_back(ctl: Ctl) -> None:
    ours, theirs = pty.openpty()
    environment = {**ctl.environment, "TERM": "xterm", "NO_COLOR": "1"}
    with subprocess.Popen([str(COMMAND), "ctl", "top", "-n", "1"], env=environment, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        process.wait(60)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    first, last = (text.replace(output.ESCAPE, "\x1b") for text in (watch.ALTERNATE_SCREEN, watch.MAIN_SCREEN))
    assert shown.startswith(first) and shown.endswith(last) and "backend/shop" in shown


def test_numbers_are_sorted_from_the_greatest_on() -> None:
    assert sorted([1, 10, 2], key=watch.sort_key) == [10, 2, 1]
    assert sorted(["b", "a"], key=watch.sort_key) == ["a", "b"]


def test_denied_requests_errors_and_failed_responses_are_counted_apart() -> None:
    counters = {"dreq": 2, "dresp": 1, "ereq": 3, "econ": 4, "eresp": 5, "hrsp_5xx": 6, "ttime": 7, "status": "OPEN"}
    assert {name: watch.counters_row("frontend/x", counters)[name] for name in ("denied", "errors", "5xx", "ms")} == {
        "denied": 3,
        "errors": 12,
        "5xx": 6,
        "ms": 7,
    }


def test_a_denied_request(ctl: Ctl, sidecar: Quick) -> None:
    """By the rule of the backend; the server behind the others refuses connections."""
    port = json.loads(ctl.output("get", "frontend/site/bind/one", "-o", "json"))["port"]
    assert [httpx2.get(f"http://127.0.0.1:{port}{path}", timeout=60).status_code for path in ("/own", "/own", "/")] == [403, 403, 503]
    (row,) = [row for row in json.loads(ctl.output("stats", "-o", "json")) if row["object"] == "backend/shop"]
    assert (row["denied"], row["5xx"]) == (2, 1) and row["errors"] >= 1, row
    first, second = [line.split()[0] for line in ctl.output("stats", "--sort", "denied").splitlines()[1:3]]
    assert {first, second} == {"backend/shop", "frontend/site"}
