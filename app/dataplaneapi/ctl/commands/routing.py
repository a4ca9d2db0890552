"""`ctl explain` shows what HAProxy does with a request; `ctl test` runs routing tests. Both use the server's shadow HAProxy.

`dataplaneapi test` also uses `run_text` and `has_passed`.
"""

import argparse
import sys
from types import SimpleNamespace
from typing import Any

from dataplaneapi.ctl import files
from dataplaneapi.ctl.failures import FAILED, OK, Failure
from dataplaneapi.ctl.objects import SIDECAR
from dataplaneapi.ctl.session import Session

# Options that become members of the request to explain.
MEMBERS = ("--method", "--host", "--src", "--sni", "--frontend", "--bind", "--body")


def explain_arguments(parser: argparse.ArgumentParser) -> None:
    _configuration_arguments(parser)
    parser.add_argument("target", metavar="URL", help="what is requested; a path with --host")
    parser.add_argument("--method", "-X", metavar="NAME", help="default GET")
    parser.add_argument("--header", "-H", action="append", metavar="NAME: VALUE", help="may be given several times")
    parser.add_argument("--host", help="the Host header")
    parser.add_argument("--src", metavar="ADDRESS", help="address of the client")
    parser.add_argument("--sni", metavar="NAME", help="server name of the TLS handshake")
    parser.add_argument("--frontend", metavar="NAME", help="section that receives it")
    parser.add_argument("--bind", metavar="NAME", help="name or address of the listener that receives it")
    parser.add_argument("--body", metavar="TEXT", help="body of the request")


def test_arguments(parser: argparse.ArgumentParser) -> None:
    _configuration_arguments(parser)
    parser.add_argument("tests", nargs="*", metavar="NAME", help="tests that are stored on the server (default all)")
    parser.add_argument("-f", "--file", action="append", metavar="FILE", help="YAML or JSON with cases, instead of stored tests")
    parser.add_argument("--junit", metavar="FILE", help="write the result as JUnit XML")
    parser.add_argument("--coverage", action="store_true", help="list the rules that no case reaches")
    parser.add_argument("--fail-under", type=float, metavar="N", help="fail if less than N %% of the rules are reached")


def _configuration_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--transaction", metavar="ID", help="use the configuration of a transaction")
    parser.add_argument("--config", metavar="FILE", help="use this configuration instead of the present one")


def run_explain(session: Session) -> int:
    given = session.given
    question: dict[str, Any] = {"url": given.target}
    for option in MEMBERS:
        if (value := getattr(given, option.strip("-"))) is not None:
            question[option.strip("-")] = value
    for header in given.header or ():
        name, colon, value = header.partition(":")
        if not colon:
            raise Failure(f"--header {header!r} is not NAME: VALUE")
        question.setdefault("headers", {}).setdefault(name.strip(), []).append(value.strip())
    answer = session.client.request("POST", f"{SIDECAR}/explain", {"transaction_id": given.transaction}, question | _config(given))
    session.show(answer.json(), route_text)
    return OK


def run_test(session: Session) -> int:
    given, path = session.given, f"{SIDECAR}/test_runs"
    if given.file and given.tests:
        raise Failure("name stored tests or --file, not both")
    body: dict[str, Any] = _config(given)
    if given.tests:
        body["tests"] = given.tests
    for name in given.file or ():
        value = files.parse_yaml(_read_text(name), name)
        if not isinstance(value, dict) or not isinstance(value.get("cases"), list):
            raise Failure(f"{name} has no list of cases, as in cases: [{{request: {{url: ...}}, expect: {{status: 200}}}}]")
        body["cases"] = body.get("cases", []) + value["cases"]
    query = {"transaction_id": given.transaction}
    if given.junit:
        answer = session.client.request("POST", path, query | {"format": "junit"}, body)
        files.replace(given.junit, answer.body.decode(), 0o644)
    test_run = session.client.request("POST", path, query, body).json()
    session.show(test_run, lambda run: run_text(run, with_coverage=given.coverage))
    return OK if has_passed(test_run, given.fail_under) else FAILED


def _config(given: argparse.Namespace) -> dict[str, str]:
    return {"config": _read_text(given.config)} if given.config else {}


def _read_text(name: str) -> str:
    if name == "-":
        return sys.stdin.read()
    try:
        with open(name, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError as error:
        raise Failure(f"{name}: {error.strerror}") from None


def route_text(route: dict[str, Any]) -> str:
    """Return how HAProxy routes a request, as text: one line for the listener, for each rule, for the backend and for the response."""
    # Members named like HAProxy's keywords are read as attributes: these keywords may not be literals in the source.
    listener = SimpleNamespace(**route["listener"])
    lines = [f"{listener.frontend}, {listener.bind} ({_position(route['listener'])})"]
    section = ""
    for rule in route["rules"]:
        if rule["section"] != section:
            section = rule["section"]
            lines.append(f"  {section}")
        lines.append(f"    {_line(rule)}")
        for term in (SimpleNamespace(**each) for each in rule.get("because", ())):
            lines += [f"      {term.term}: {_line(line)}" for line in term.acl]
    if backend := route.get("backend"):
        servers = []
        for server in route.get("servers", ()):
            weight = f"weight {server['weight']}" if server.get("weight") is not None else None
            notes = ", ".join(filter(None, (server.get("state"), weight, "a backup" if server.get("backup") else None)))
            servers.append(f"{server['name']} ({notes})" if notes else str(server["name"]))
        chosen = f", here to {route['server']}" if "server" in route else ""
        lines.append(f"-> backend {backend}" + (f": {', '.join(servers)}" if servers else "") + chosen)
    if answering := route.get("answered_by"):
        lines.append(f"-> answered by {_line(answering)}")
    if "status" in route:
        lines.append(f"-> status {route['status']}" + (f", to {route['location']}" if "location" in route else ""))
    else:
        lines.append("-> sent to the server" if "server" in route else "-> closed without a response")
    lines += [f"not known here: {line['why']}, {_line(line)}" for line in route["unknown"]]
    return "".join(f"{line}\n" for line in lines)


def run_text(run: dict[str, Any], *, with_coverage: bool) -> str:
    """Return the failed cases of a run with the rules that they matched, and a summary.

    `with_coverage`: whether to add the rules that no case reaches.
    """
    lines: list[str] = []
    for case in run["cases"]:
        if not case["passed"]:
            lines += [" ".join(["FAILED", *([f"{case['test']}:"] if "test" in case else []), case["name"]]), f"  {case.get('reason', '-')}"]
            lines += [f"    {_line(rule)}" for rule in case.get("rules", ())]
    coverage = run["coverage"]
    if with_coverage:
        lines += [f"not reached {_line(line)} ({line['section']})" for line in coverage["unreached"]]
    share = f" ({coverage['share']:.1%})" if "share" in coverage else ""
    reached = f"{coverage['reached']} of {coverage['rules']} rules reached{share}"
    lines.append(f"{run['passed']} passed, {run['failed']} failed in {run['seconds']:.2f} s; {reached}")
    return "\n".join(lines) + "\n"


def has_passed(run: dict[str, Any], fail_under: float | None) -> bool:
    """Return whether all cases have passed and reach at least `fail_under` percent of the rules.

    If `fail_under` is None, ignore the rules.
    """
    return not run["failed"] and (fail_under is None or run["coverage"].get("share", 1.0) * 100 >= fail_under)


def _line(line: dict[str, Any]) -> str:
    return f"{_position(line)}: {line['text']}"


def _position(line: dict[str, Any]) -> str:
    return f"{line['file']}:{line['line']}" if "file" in line else f"line {line['line']}"
