"""What becomes of requests, and of tests of routing, as text."""

from collections.abc import Iterator
from typing import Any


class Row:
    """A row of an answer; a member that it does not have is None."""

    def __init__(self, members: dict[str, Any]) -> None:
        self.__dict__.update(members)

    def __getattr__(self, name: str) -> Any:
        return None


def of_request(found: dict[str, Any]) -> str:
    """The way of a request: listener, rules, backend, answer."""
    return "".join(f"{line}\n" for line in _way(found))


def _way(found: dict[str, Any]) -> Iterator[str]:
    listener = Row(found["listener"])
    yield f"{listener.frontend}, {listener.bind} ({_place(found['listener'])})"
    section = ""
    for rule in found["rules"]:
        if rule["section"] != section:
            section = rule["section"]
            yield f"  {section}"
        yield f"    {_line(rule)}"
        for term in map(Row, rule.get("because", ())):
            yield from (f"      {term.term}: {_line(line)}" for line in term.acl)
    if backend := found.get("backend"):
        servers = ", ".join(map(_server, found.get("servers", ())))
        taken = f", here to {found['server']}" if "server" in found else ""
        yield f"-> backend {backend}{f': {servers}' if servers else ''}{taken}"
    if by := found.get("answered_by"):
        yield f"-> answered by {_line(by)}"
    yield f"-> {_status(found)}"
    for name in found["unknown"]:
        yield f"not known here: {name['why']}, {_line(name)}"


def _status(found: dict[str, Any]) -> str:
    if "status" in found:
        return f"status {found['status']}" + (f", to {found['location']}" if "location" in found else "")
    return "sent to the server" if "server" in found else "closed without a response"


def _server(members: dict[str, Any]) -> str:
    server = Row(members)
    notes = [server.state, None if server.weight is None else f"weight {server.weight}", "a backup" if server.backup else None]
    shown = ", ".join(filter(None, notes))
    return f"{server.name} ({shown})" if shown else str(server.name)


def _line(line: dict[str, Any]) -> str:
    return f"{_place(line)}: {line['text']}"


def _place(line: dict[str, Any]) -> str:
    return f"{line['file']}:{line['line']}" if "file" in line else f"line {line['line']}"


def of_run(run: dict[str, Any], *, with_coverage: bool) -> str:
    """The cases that have failed, with the rules that they met, and the sum."""
    return "".join(f"{line}\n" for line in _tested(run, with_coverage=with_coverage))


def _tested(run: dict[str, Any], *, with_coverage: bool) -> Iterator[str]:
    for case in run["cases"]:
        if not case["passed"]:
            yield " ".join(["FAILED", *([f"{case['test']}:"] if "test" in case else []), case["name"]])
            yield f"  {case['reason']}"
            yield from (f"    {_line(rule)}" for rule in case.get("rules", ()))
    coverage = run["coverage"]
    if with_coverage:
        yield from (f"not reached {_line(line)} ({line['section']})" for line in coverage["unreached"])
    share = f" ({coverage['share']:.1%})" if "share" in coverage else ""
    reached = f"{coverage['reached']} of {coverage['rules']} rules reached{share}"
    yield f"{run['passed']} passed, {run['failed']} failed in {run['seconds']:.2f} s; {reached}"


def is_good(run: dict[str, Any], fail_under: float | None) -> bool:
    """Whether all cases have passed, and so many rules of a hundred were reached."""
    return not run["failed"] and (fail_under is None or run["coverage"].get("share", 1.0) * 100 >= fail_under)
