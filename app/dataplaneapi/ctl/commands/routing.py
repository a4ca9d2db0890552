"""`ctl explain` and `test`: what HAProxy does with requests, asked of the server's second HAProxy."""

import argparse
import sys
from typing import Any

from dataplaneapi.ctl import files, formats, reports
from dataplaneapi.ctl.failures import FAILED, OK, Failure
from dataplaneapi.ctl.objects import SIDECAR
from dataplaneapi.ctl.session import Session

# Members of a question, by the options that give them.
MEMBERS = ("--method", "--host", "--src", "--sni", "--frontend", "--bind", "--body")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--transaction", metavar="ID", help="as it would be with this transaction")
    parser.add_argument("--config", metavar="FILE", help="a configuration in the place of the present one")
    if parser.prog.endswith("explain"):
        parser.add_argument("target", metavar="URL", help="what is asked for; a path with --host")
        parser.add_argument("--method", "-X", metavar="NAME", help="GET without it")
        parser.add_argument("--header", "-H", action="append", metavar="NAME: VALUE", help="may stand several times")
        parser.add_argument("--host", help="the Host header")
        parser.add_argument("--src", metavar="ADDRESS", help="address of the client")
        parser.add_argument("--sni", metavar="NAME", help="name that is asked for in TLS")
        parser.add_argument("--frontend", metavar="NAME", help="section that takes it")
        parser.add_argument("--bind", metavar="NAME", help="name or address of the listener that takes it")
        parser.add_argument("--body", metavar="TEXT", help="what is sent")
        return
    parser.add_argument("tests", nargs="*", metavar="NAME", help="tests that are kept on the server; all without it")
    parser.add_argument("-f", "--file", action="append", metavar="FILE", help="YAML or JSON with cases, in their place")
    parser.add_argument("--junit", metavar="FILE", help="write the result as JUnit has it")
    parser.add_argument("--coverage", action="store_true", help="list the rules that no case reaches")
    parser.add_argument("--fail-under", type=float, metavar="N", help="fail where less than N %% of the rules are reached")


def run(session: Session) -> int:
    query = {"transaction_id": session.given.transaction}
    config = {"config": _text(session.given.config)} if session.given.config else {}
    if session.given.command == "explain":
        session.show(session.client.ask("POST", f"{SIDECAR}/explain", query, _question(session.given) | config).json(), reports.of_request)
        return OK
    return _tested(session, query, _options(session.given) | config)


def _question(given: argparse.Namespace) -> dict[str, Any]:
    question = {"url": given.target} | {
        name: value for name in (option.strip("-") for option in MEMBERS) if (value := getattr(given, name)) is not None
    }
    headers: dict[str, list[str]] = {}
    for header in given.header or ():
        name, colon, value = header.partition(":")
        if not colon:
            raise Failure(f"--header {header!r} is no NAME: VALUE")
        headers.setdefault(name.strip(), []).append(value.strip())
    return question | ({"headers": headers} if headers else {})


def _options(given: argparse.Namespace) -> dict[str, Any]:
    if given.file and given.tests:
        raise Failure("--file has cases in the place of those of tests that are kept: name one of the two")
    if given.file:
        return {"cases": [case for name in given.file for case in _cases(name)]}
    return {"tests": given.tests} if given.tests else {}


def _cases(name: str) -> list[Any]:
    value = formats.parse_yaml(_text(name), name)
    if not isinstance(value, dict) or not isinstance(value.get("cases"), list):
        raise Failure(f"{name} has no list of cases, as in cases: [{{request: {{url: ...}}, expect: {{status: 200}}}}]")
    return list(value["cases"])


def _tested(session: Session, query: dict[str, Any], body: dict[str, Any]) -> int:
    given, path = session.given, f"{SIDECAR}/test_runs"
    if given.junit:
        answer = session.client.ask("POST", path, query | {"format": "junit"}, body)
        files.replace(given.junit, answer.body.decode(), 0o644)
    test_run = session.client.ask("POST", path, query, body).json()
    session.show(test_run, lambda run: reports.of_run(run, with_coverage=given.coverage))
    return OK if reports.is_good(test_run, given.fail_under) else FAILED


def _text(name: str) -> str:
    if name == "-":
        return sys.stdin.read()
    try:
        with open(name, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError as error:
        raise Failure(f"{name}: {error.strerror}") from None
