"""Run cases of routing tests against one shadow, compute which rules they reach, and return the result as JSON or JUnit XML."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from haproxy_native.editing.secrets import masked_object
from haproxy_native.errors import BadRequest
from haproxy_native.features.explain.explanation import AppliedRule, Explanation, HttpMessage, explained
from haproxy_native.features.explain.question import Question, check, client_request, question_of
from haproxy_native.shadow.rewrite import SourceLine
from haproxy_native.shadow.shadows import ShadowClient
from haproxy_native.text.document import Document

_NOT_IN_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# How many cases a test or a run may have.
MOST = 20_000


@dataclass(frozen=True)
class Case:
    """A request with its expected outcome."""

    # The name of the stored test, or of the file; empty for the cases in the body of a run.
    test: str
    name: str
    # The request and the outcome, as the client has sent them.
    request: Mapping[str, Any]
    expect: Mapping[str, Any]
    # The parsed request.
    question: Question

    @property
    def full_name(self) -> str:
        return f"{self.test}, {self.name}" if self.test else self.name


def cases_of(rows: Sequence[Mapping[str, Any]], test: str = "") -> list[Case]:
    """Parse the cases of a body. Raises BadRequest for a request that is not valid, and for a case that expects nothing."""
    if len(rows) > MOST:
        raise BadRequest(f"cases in body has {len(rows)} items; send {MOST} at most")
    return [_parse_case(row, test, number) for number, row in enumerate(rows)]


def _parse_case(row: Mapping[str, Any], test: str, number: int) -> Case:
    request, expect = row["request"], row["expect"]
    # A case without a name is called after its request, such as `GET /cart`.
    target = request.get("url") or f"{request.get('host', '')}{request.get('path', '/')}"
    name = row.get("name") or f"{request.get('method', 'GET')} {target}"[:200]
    if not expect:
        raise BadRequest(f"cases.{number}.expect in body is empty, so the case ({name[:100]}) would test nothing; add an outcome")
    if member := next((each for each in ("config", "transaction_id") if each in request), ""):
        raise BadRequest(f"cases.{number}.request.{member} in body: send {member} with the run, for all cases")
    try:
        check(question := question_of(request))
    except BadRequest as error:
        raise BadRequest(f"cases.{number}.request ({name[:100]}): {error}") from None
    return Case(test, name, request, expect, question)


def compared(expect: Mapping[str, Any], explanation: Explanation) -> tuple[dict[str, Any], str]:
    """Return (actual values of the members of `expect`, text about the values that differ). The text is empty if no value differs."""
    known: dict[str, Any] = {
        **vars(explanation.listener),
        "backend": explanation.backend,
        "server": explanation.server,
        "status": explanation.status,
        "location": explanation.location,
        "closed": explanation.status is None and explanation.server is None,
        "answered_by": explanation.answered_by.text if explanation.answered_by else None,
    }
    got: dict[str, Any] = {}
    differences: list[str] = []
    for member, expected in expect.items():
        if member in known:
            got[member] = known[member]
            if expected != got[member]:
                differences.append(f"{member} is {_shown(got[member])}, not {_shown(expected)}")
            continue
        message = explanation.request if member == "request_headers" else explanation.response
        got[member] = headers = {name: _header_value(message, name) for name in expected}
        for name, value in expected.items():
            if _as_texts(value) != _as_texts(headers[name]):
                differences.append(f"{member} {name} is {_shown(headers[name])}, not {_shown(value)}")
    return got, "; ".join(differences)


def _header_value(message: HttpMessage | None, name: str) -> Any:
    """Return the value of a header, or a list if the header has several values. None if `message` lacks the header."""
    values = [header.value for header in message.headers if header.name.lower() == name.lower()] if message else []
    return values if len(values) > 1 else values[0] if values else None


def _as_texts(value: Any) -> list[str]:
    """Return the values of a header for comparison. So 1 equals "1" and ["1"], and None equals an empty list."""
    return [str(element) for element in value] if isinstance(value, list) else [] if value is None else [str(value)]


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)


@dataclass(frozen=True)
class Result:
    """The result of a case."""

    case: Case
    # How long the request took.
    seconds: float
    # What differs, or why the request cannot be sent; empty if the case has passed.
    reason: str = ""
    # The actual values of the expected members; None if the request cannot be sent.
    got: Mapping[str, Any] | None = None
    # The rules that applied.
    rules: Sequence[AppliedRule] = ()

    @property
    def passed(self) -> bool:
        return not self.reason

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON."""
        case = self.case
        whole: dict[str, Any] = {"test": case.test or None, "name": case.name, "passed": self.passed, "seconds": round(self.seconds, 5)}
        whole |= {"reason": self.reason or None, "request": case.request, "expect": case.expect, "got": self.got}
        if self.got is not None:
            whole["rules"] = [_without_absent(asdict(rule)) for rule in self.rules]
        return {member: value for member, value in whole.items() if value is not None}


@dataclass(frozen=True)
class Coverage:
    """The number of rules in a shadow, and the rules that no case has reached."""

    rules: int
    unreached: Sequence[SourceLine]

    @property
    def reached(self) -> int:
        return self.rules - len(self.unreached)

    def as_dict(self) -> dict[str, Any]:
        """Return the coverage as JSON."""
        share = {"share": round(self.reached / self.rules, 4)} if self.rules else {}
        return {
            "rules": self.rules,
            "reached": self.reached,
            **share,
            "unreached": [_without_absent(asdict(rule)) for rule in self.unreached],
        }


@dataclass(frozen=True)
class Run:
    """The results of a run, in the order of its cases."""

    results: Sequence[Result]
    coverage: Coverage
    seconds: float

    @property
    def failed(self) -> Sequence[Result]:
        return [result for result in self.results if not result.passed]

    def as_dict(self) -> dict[str, Any]:
        """Return the run as JSON."""
        failed = len(self.failed)
        return {
            "passed": len(self.results) - failed,
            "failed": failed,
            "seconds": round(self.seconds, 4),
            "cases": [result.as_dict() for result in self.results],
            "coverage": self.coverage.as_dict(),
        }


async def run(document: Document, shadow_client: ShadowClient, cases: Sequence[Case]) -> Run:
    """Run cases against a shadow of the document. Raises NoShadow."""
    began, results, reached = time.monotonic(), list[Result](), set[tuple[str | None, int]]()
    for case in cases:
        result = await _run_case(document, shadow_client, case)
        results.append(result)
        reached.update(map(_identity, result.rules))
    rules = {_identity(rule.place): rule.place for rule in shadow_client.shadow.rules.values()}
    coverage = Coverage(len(rules), [place for identity, place in rules.items() if identity not in reached])
    return Run(results, coverage, time.monotonic() - began)


async def _run_case(document: Document, shadow_client: ShadowClient, case: Case) -> Result:
    began = time.monotonic()
    try:
        request = client_request(case.question, shadow_client.shadow.listeners)
    except BadRequest as error:
        return Result(case, 0.0, f"the request cannot be sent: {error}")
    explanation = explained(document, shadow_client.shadow, request.listener, await shadow_client.send_request(request), has_states=False)
    got, reason = compared(case.expect, explanation)
    return Result(case, time.monotonic() - began, reason, got, explanation.rules)


def _without_absent(value: Any) -> Any:
    """Return a JSON value without the members that are None."""
    if isinstance(value, dict):
        return {name: _without_absent(member_value) for name, member_value in value.items() if member_value is not None}
    return [_without_absent(element) for element in value] if isinstance(value, list | tuple) else value


def _identity(place: SourceLine) -> tuple[str | None, int]:
    """Return what identifies a rule: its file and line."""
    return place.file, place.line


def junit(run: Run, *, with_secrets: bool = True) -> bytes:
    """Return a run as JUnit XML, with a suite for each test. With `with_secrets=False`, secrets are masked. Blocks."""
    root = Element("testsuites", tests=str(len(run.results)), failures=str(len(run.failed)), time=f"{run.seconds:.3f}")
    for name, group in groupby(run.results, key=lambda result: result.case.test):
        results = [*group]
        failures, seconds = sum(not result.passed for result in results), sum(result.seconds for result in results)
        suite = SubElement(
            root, "testsuite", name=_clean(name or "routing"), tests=str(len(results)), failures=str(failures), time=f"{seconds:.3f}"
        )
        for result in results:
            class_name, case_name = _clean(result.case.test or "routing"), _clean(result.case.name)
            case = SubElement(suite, "testcase", classname=class_name, name=case_name, time=f"{result.seconds:.4f}")
            if result.passed:
                continue
            shown = result.as_dict() if with_secrets else masked_object(result.as_dict(), "routing_result")
            # The reason, and the rules that applied.
            lines = [shown["reason"]]
            for rule in shown.get("rules", ()):
                lines.append("{}{}: {}".format(f"{rule['file']}:" if rule.get("file") else "line ", rule["line"], rule["text"]))
            SubElement(case, "failure", message=_clean(shown["reason"])).text = _clean("\n".join(lines))
    indent(root)
    data: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def _clean(text: str) -> str:
    """Return a text in which `?` replaces the characters that XML does not allow."""
    return _NOT_IN_XML.sub("?", text)
