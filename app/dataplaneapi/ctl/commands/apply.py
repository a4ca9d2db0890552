"""`ctl apply` and `ctl plan`: what is declared is made so, or shown with all that it would do."""

import argparse
from typing import Any

from dataplaneapi.ctl import declarations, durations, tables, waiting
from dataplaneapi.ctl.client import JSON
from dataplaneapi.ctl.failures import CONFLICT, DIFFERS, OK, REFUSED, Failure
from dataplaneapi.ctl.objects import SIDECAR
from dataplaneapi.ctl.session import Session

OPTIONS = ("owner", "prune", "force", "max_delete", "unowned")


def arguments(parser: argparse.ArgumentParser) -> None:
    is_plan = parser.prog.endswith(" plan")
    parser.add_argument(
        "-f", "--file", action="append", metavar="FILE", help="YAML, JSON or .cfg, a directory of them, or - for standard input"
    )
    parser.add_argument("--owner", metavar="NAME", help="who declares it")
    parser.add_argument("--prune", action=argparse.BooleanOptionalAction, help="delete what the owner leaves out now (default)")
    parser.add_argument("--force", action="store_true", default=None, help="take what others own")
    parser.add_argument("--max-delete", type=int, metavar="N", help="refuse to delete more objects than that")
    parser.add_argument(
        "--unowned", metavar="MEMBERS", help="members that are left to others once they are created, as in weight,maintenance"
    )
    if is_plan:
        parser.add_argument("--exit-code", action="store_true", help=f"end with {DIFFERS} where something would change")
        parser.add_argument("--tests", dest="with_tests", action="store_true", help="say which tests of routing it would break")
        parser.add_argument("--save", metavar="FILE", help="write the token of the plan to a file, for apply --plan @FILE")
        return
    parser.add_argument("--dry-run", action="store_true", help="show what would be done, and change nothing")
    parser.add_argument("--diff", action="store_true", help=f"as --dry-run, and end with {DIFFERS} where something would change")
    parser.add_argument("--plan", metavar="TOKEN", help="carry out a plan by its token, or by @FILE that has it")
    add_waiting(parser)


def add_waiting(parser: argparse.ArgumentParser) -> None:
    """What writes take."""
    text = "wait for the reload that it needs, so long at most (default 5m)"
    parser.add_argument("--wait", nargs="?", const=waiting.REASONABLE, type=durations.seconds, metavar="TIME", help=text)
    parser.add_argument("--confirm", metavar="TIME", help="take it back after this time, such as 2m, unless it is confirmed")
    parser.add_argument("--tests", dest="with_tests", action="store_true", help="refuse it where it breaks a test of routing")
    parser.add_argument("-m", "--message", metavar="TEXT", help="why, for the history")


def writing(session: Session) -> tuple[dict[str, Any], dict[str, str]]:
    """Query and headers of what `add_waiting` takes."""
    given = session.given
    query = {"confirm": given.confirm, "tests": "require" if given.with_tests else None}
    return query, {"X_Change_Message": given.message} if given.message else {}


def run(session: Session) -> int:
    given = session.given
    token = getattr(given, "plan", None)
    if token and (given.file or any(getattr(given, name) is not None for name in OPTIONS) or given.dry_run or given.diff):
        raise Failure("--plan goes without a file and without other options of the declaration: the plan has them")
    if token:
        return _carried_out(session, {"plan": _token(token)}, None, JSON)
    if not given.file or not given.owner:
        raise Failure("-f FILE and --owner NAME are required" + ("" if given.command == "plan" else ", or --plan TOKEN"))
    query = {name: getattr(given, name) for name in OPTIONS}
    body, kind = declarations.read(given.file)
    if given.command == "plan" or given.dry_run or given.diff:
        return _planned(session, query, body, kind)
    return _carried_out(session, query, body, kind)


def _token(text: str) -> str:
    if not text.startswith("@"):
        return text
    try:
        with open(text[1:], encoding="utf-8") as file:
            token = file.read().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"{text[1:]}: {error}") from None
    if not token:
        raise Failure(f"{text[1:]} holds no token: its plan had conflicts, or HAProxy refused it")
    return token


def _planned(session: Session, query: dict[str, Any], body: bytes, kind: str) -> int:
    given = session.given
    options = {**query, "dry_run": True, "tests": "require" if given.with_tests else None}
    plan = session.client.ask("PUT", f"{SIDECAR}/apply", options, body, kind).json()
    session.show(plan, lambda result: described(result, colours=session.colours))
    if file := getattr(given, "save", None):
        _save(file, plan.get("plan_token", ""))
    if plan["conflicts"]:
        return CONFLICT
    tests = plan.get("tests", {})
    if not plan["valid"] or tests.get("failed_tests") or "untested" in tests:
        return REFUSED
    asked = getattr(given, "exit_code", False) or getattr(given, "diff", False)
    return DIFFERS if asked and _differs(plan) else OK


def _save(file: str, token: str) -> None:
    """An empty one as well, so that no former one is taken for it."""
    try:
        with open(file, "w", encoding="utf-8") as opened:
            opened.write(f"{token}\n")
    except OSError as error:
        raise Failure(f"{file}: {error.strerror}") from None


def _carried_out(session: Session, query: dict[str, Any], body: bytes | None, kind: str) -> int:
    more, headers = writing(session)
    answer = session.client.ask("PUT", f"{SIDECAR}/apply", query | more, body, kind, **headers)
    session.show(answer.json(), lambda result: described(result, colours=session.colours))
    return waiting.written(session, answer, session.given.wait)


def _differs(plan: dict[str, Any]) -> bool:
    return any(plan[name] for name in ("created", "changed", "deleted"))


def described(found: dict[str, Any], *, colours: bool = False) -> str:
    """A plan, or what was done, as lines."""
    lines = [tables.coloured(f"+ {name}", tables.GREEN, colours=colours) for name in found["created"]]
    for row in found["changed"]:
        change = f"~ {row['object']}  {row['member']}: {tables.cell(row.get('old'))} -> {tables.cell(row.get('new'))}"
        lines.append(tables.coloured(change, tables.YELLOW, colours=colours))
    lines += [tables.coloured(f"- {name}", tables.RED, colours=colours) for name in found["deleted"]]
    lines += [f"taken from {', '.join(row['owners'])}: {row['object']} {row.get('member', '')}".rstrip() for row in found["taken"]]
    lines += [tables.coloured(line, tables.RED, colours=colours) for line in conflicts(found)]
    lines += [f"live: {command}" for command in found.get("commands", ())]
    lines += [f"reload: {reason['reason']}" for reason in found.get("reasons", ())] if found["reload"] else []
    lines += [f"haproxy: {each['text']}" for each in found.get("messages", ()) if each["severity"] != "notice"]
    lines += [tables.coloured(line, tables.RED, colours=colours) for line in of_tests(found.get("tests", {}))]
    lines.append(_summary(found))
    return "\n".join([*lines, *([f"plan token: {found['plan_token']}"] if "plan_token" in found else [])]) + "\n"


def of_tests(tests: dict[str, Any]) -> list[str]:
    """What tests of routing say, one a line."""
    lines = [f"breaks test {test.get('test', '')}, {test['name']}: {test.get('reason', '')}" for test in tests.get("failed_tests", ())]
    lines += [f"fails without it as well: test {name}" for name in tests.get("failed_before", ())]
    return [*lines, *([tests["untested"]] if "untested" in tests else [])]


def conflicts(found: dict[str, Any]) -> list[str]:
    """The conflicts of a plan or a refusal, one a line."""
    return [
        f"! {'  '.join(filter(None, (conflict['object'], conflict.get('member'))))}: "
        f"{tables.cell(conflict.get('theirs'))} of {', '.join(conflict['owners'])}, {tables.cell(conflict.get('mine'))} here"
        for conflict in found.get("conflicts", ())
    ]


def _summary(found: dict[str, Any]) -> str:
    counts = [f"{len(found[name])} {name}" for name in ("created", "changed", "deleted", "unchanged")]
    return f"{found['owner']}, version {found['version']}: {', '.join(counts)}"
