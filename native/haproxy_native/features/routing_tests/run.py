"""A run of cases against one shadow: what became of each, and which rules none has reached."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from haproxy_native.errors import BadRequest
from haproxy_native.features.explain.explanation import Applied, explained
from haproxy_native.features.explain.question import asked
from haproxy_native.features.routing_tests.case import Case, compared
from haproxy_native.shadow.rewrite import Place, Shadow
from haproxy_native.shadow.shadows import Asker
from haproxy_native.text.document import Document


@dataclass(frozen=True)
class Result:
    """`reason`: what is not as expected, or why the request cannot be sent; empty where the case has passed."""

    case: Case
    seconds: float
    reason: str = ""
    got: Mapping[str, Any] | None = None
    rules: Sequence[Applied] = ()

    @property
    def passed(self) -> bool:
        return not self.reason

    def as_dict(self) -> dict[str, Any]:
        """Returns the result as the API shows it."""
        case = self.case
        whole: dict[str, Any] = {"test": case.test or None, "name": case.name, "passed": self.passed, "seconds": round(self.seconds, 5)}
        whole |= {"reason": self.reason or None, "request": case.request, "expect": case.expect, "got": self.got}
        if self.got is not None:
            whole["rules"] = [_plain(asdict(rule)) for rule in self.rules]
        return {member: value for member, value in whole.items() if value is not None}


@dataclass(frozen=True)
class Coverage:
    """Coverage: `unreached` rules of `rules` in all."""

    rules: int
    unreached: Sequence[Place]

    @property
    def reached(self) -> int:
        return self.rules - len(self.unreached)

    def as_dict(self) -> dict[str, Any]:
        """Returns the coverage as the API shows it."""
        share = {"share": round(self.reached / self.rules, 4)} if self.rules else {}
        return {"rules": self.rules, "reached": self.reached, **share, "unreached": [_plain(asdict(rule)) for rule in self.unreached]}


@dataclass(frozen=True)
class Run:
    results: Sequence[Result]
    coverage: Coverage
    seconds: float

    @property
    def failed(self) -> Sequence[Result]:
        return [result for result in self.results if not result.passed]

    def as_dict(self) -> dict[str, Any]:
        """Returns the run as the API shows it."""
        failed = len(self.failed)
        return {
            "passed": len(self.results) - failed,
            "failed": failed,
            "seconds": round(self.seconds, 4),
            "cases": [result.as_dict() for result in self.results],
            "coverage": self.coverage.as_dict(),
        }


async def run(document: Document, asker: Asker, cases: Sequence[Case]) -> Run:
    """Raises NoShadow."""
    began, results, reached = time.monotonic(), list[Result](), set[tuple[str | None, int]]()
    for case in cases:
        result = await _result(document, asker, case)
        results.append(result)
        reached.update(map(_identity, result.rules))
    return Run(results, _coverage(asker.shadow, reached), time.monotonic() - began)


async def _result(document: Document, asker: Asker, case: Case) -> Result:
    began = time.monotonic()
    try:
        request = asked(case.question, asker.shadow.listeners)
    except BadRequest as error:
        return Result(case, 0.0, f"it cannot be asked: {error}")
    explanation = explained(document, asker.shadow, request.listener, await asker.ask(request), has_states=False)
    got, reason = compared(case.expect, explanation)
    return Result(case, time.monotonic() - began, reason, got, explanation.rules)


def _coverage(shadow: Shadow, reached: Collection[tuple[str | None, int]]) -> Coverage:
    rules = {_identity(rule.place): rule.place for rule in shadow.rules.values()}
    return Coverage(len(rules), [place for identity, place in rules.items() if identity not in reached])


def _plain(value: Any) -> Any:
    """Returns the value, without the file of a line in the main file."""
    if isinstance(value, dict):
        return {name: _plain(member_value) for name, member_value in value.items() if member_value is not None}
    return [_plain(element) for element in value] if isinstance(value, list | tuple) else value


def _identity(place: Place) -> tuple[str | None, int]:
    return place.file, place.line
