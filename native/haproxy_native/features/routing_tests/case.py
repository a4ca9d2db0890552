"""A request with what is to become of it, and the comparison with what did. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haproxy_native.errors import BadRequest
from haproxy_native.features.explain.explanation import Explanation, Message
from haproxy_native.features.explain.question import Question, check, question_of

# Cases of one test, and of one run.
MOST = 20_000


@dataclass(frozen=True)
class Case:
    """`test` is the one that it is in. `request` and `expect` as in the API's schemas, and `question` is made of the former."""

    test: str
    name: str
    request: Mapping[str, Any]
    expect: Mapping[str, Any]
    question: Question

    @property
    def full_name(self) -> str:
        return f"{self.test}, {self.name}" if self.test else self.name


def cases_of(rows: Sequence[Mapping[str, Any]], test: str = "") -> list[Case]:
    """Parses the rows of a body. Raises BadRequest for a request that cannot be sent, and for a case that expects nothing."""
    if len(rows) > MOST:
        raise BadRequest(f"cases in body has {len(rows)} items, and {MOST} at most")
    return [_case(row, test, number) for number, row in enumerate(rows)]


def _case(row: Mapping[str, Any], test: str, number: int) -> Case:
    request, expect = row["request"], row["expect"]
    name = row.get("name") or _named(request)
    if not expect:
        raise BadRequest(f"cases.{number}.expect in body is empty, so that the case ({name[:100]}) would test nothing")
    if member := next((each for each in ("config", "transaction_id") if each in request), ""):
        raise BadRequest(f"cases.{number}.request.{member} in body: it is given to a run, and not to a case")
    try:
        check(question := question_of(request))
    except BadRequest as error:
        raise BadRequest(f"cases.{number}.request ({name[:100]}): {error}") from None
    return Case(test, name, request, expect, question)


def _named(request: Mapping[str, Any]) -> str:
    target = request.get("url") or f"{request.get('host', '')}{request.get('path', '/')}"
    return f"{request.get('method', 'GET')} {target}"[:200]


def compared(expect: Mapping[str, Any], found: Explanation) -> tuple[dict[str, Any], str]:
    """What became of it, in the members of `expect`, and what is not as expected; empty where all is."""
    got = dict(_got(expect, found))
    wrong = [_difference(member, expect[member], got[member]) for member in expect if _plain(expect[member]) != _plain(got[member])]
    return got, "; ".join(wrong)


def _got(expect: Mapping[str, Any], found: Explanation) -> Iterator[tuple[str, Any]]:
    known: dict[str, Any] = {
        **vars(found.listener),
        "backend": found.backend,
        "server": found.server,
        "status": found.status,
        "location": found.location,
        "closed": found.status is None and found.server is None,
        "answered_by": found.answered_by.text if found.answered_by else None,
    }
    for member, wanted in expect.items():
        if member in known:
            yield member, known[member]
        else:
            message = found.request if member == "request_headers" else found.response
            yield member, {name: _values(message, name) for name in wanted}


def _values(message: Message | None, name: str) -> Any:
    """One value, a list of several, or None."""
    values = [header.value for header in message.headers if header.name.lower() == name.lower()] if message else []
    return values if len(values) > 1 else values[0] if values else None


def _plain(value: Any) -> Any:
    """Headers as lists of texts, so that 1 is "1", and a list of one value is that value."""
    if not isinstance(value, Mapping):
        return value
    return {
        name: [str(value) for value in values] if isinstance(values, list) else [] if values is None else [str(values)]
        for name, values in value.items()
    }


def _difference(member: str, wanted: Any, got: Any) -> str:
    if not isinstance(wanted, Mapping):
        return f"{member} is {_shown(got)}, not {_shown(wanted)}"
    plain, is_now = _plain(wanted), _plain(got)
    return "; ".join(
        f"{member} {name} is {_shown(got[name])}, not {_shown(wanted[name])}" for name in wanted if plain[name] != is_now[name]
    )


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)
