"""Build an explanation from the outcome of a request in a shadow: the rules that applied, in their order, and the result."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from haproxy_native.shadow.process import RequestOutcome
from haproxy_native.shadow.rewrite import FrontendListener, Shadow, SourceLine, ending, why_health
from haproxy_native.text.document import Document


@dataclass(frozen=True)
class Term:
    """A term of a condition that was true. If the term names an ACL, `acl` has the lines of the ACL."""

    term: str
    acl: Sequence[SourceLine]


@dataclass(frozen=True)
class AppliedRule(SourceLine):
    """A rule that applied, and the terms of its condition that were true."""

    because: Sequence[Term]


@dataclass(frozen=True)
class UnknownEffect(SourceLine):
    """A line whose effect in the running HAProxy may differ from its effect in the shadow, and why."""

    why: str


@dataclass(frozen=True)
class Header:
    name: str
    value: str


@dataclass(frozen=True)
class HttpMessage:
    """The first line and the headers of a request or response."""

    line: str
    headers: Sequence[Header]


@dataclass(frozen=True)
class CandidateServer:
    """A server that the backend may choose. `state` is the state of the server in the running worker; None if the state is unknown."""

    name: str
    weight: int | None = None
    backup: bool | None = None
    state: str | None = None


@dataclass(frozen=True)
class AcceptingListener:
    """The listener that accepts a request."""

    frontend: str
    bind: str
    file: str | None
    line: int


@dataclass(frozen=True)
class Explanation:
    """What happened to a request in the shadow. The API returns its members."""

    listener: AcceptingListener
    rules: Sequence[AppliedRule]
    backend: str | None
    # The server that the shadow has chosen, and those that may be chosen.
    server: str | None
    servers: Sequence[CandidateServer] | None
    # The rule that answered instead of a server; None if a server did.
    answered_by: SourceLine | None
    # The HTTP status; None if the connection was closed without a response.
    status: int | None
    location: str | None
    variables: Mapping[str, str] | None
    request: HttpMessage | None
    response: HttpMessage | None
    unknown: Sequence[UnknownEffect]


def explained(document: Document, shadow: Shadow, listener: FrontendListener, outcome: RequestOutcome, *, has_states: bool) -> Explanation:
    """Return the explanation of an outcome, without `servers`. `has_states`: whether the shadow had the states of the running servers."""
    rules = [*_applied_rules(shadow, outcome.marks)]
    is_both = document.find("listen", outcome.backend) is not None
    backend = outcome.backend if is_both or outcome.backend != outcome.frontend else ""
    is_http = listener.mode == "http"
    response = _message(outcome.response) if is_http else None
    # The status of the response. HAProxy logs another one for its statistics page: 400 if the response requests a password.
    words = response.line.split(" ")[1:2] if response else []
    logged = outcome.status if outcome.status > 0 else None
    return Explanation(
        AcceptingListener(listener.frontend, listener.address, listener.place.file, listener.place.line),
        rules,
        backend or None,
        outcome.server or None,
        None,
        None if outcome.server else _answering_rule(shadow, outcome, rules),
        int(words[0]) if words and words[0].isdigit() else logged,
        next((header.value for header in response.headers if header.name.lower() == "location"), None) if response else None,
        outcome.variables or None,
        _message(outcome.request) if outcome.request and is_http else None,
        response,
        [*_unknown_effects(shadow, {listener.place.section, *(rule.section for rule in rules)}, backend, has_states=has_states)],
    )


def _applied_rules(shadow: Shadow, marks: Sequence[str]) -> Iterator[AppliedRule]:
    """Yield the rules that applied, from the marks that the shadow has logged for true terms and for rules."""
    terms: list[Term] = []
    before: SourceLine | None = None
    for rule in (shadow.rules[mark] for mark in marks if mark in shadow.rules):
        if rule.place is not before:
            terms, before = [], rule.place
        if rule.term:
            terms.append(Term(rule.term, shadow.acls.get((rule.place.section, rule.term.lstrip("! ")), ())))
        else:
            yield AppliedRule(**vars(rule.place), because=terms)


def _answering_rule(shadow: Shadow, outcome: RequestOutcome, rules: Sequence[AppliedRule]) -> SourceLine | None:
    """Return the rule with which HAProxy answered the request itself; None if there is no such rule.

    If a rule has denied the request, HAProxy reports the line of this rule. Otherwise, return the last of `rules` whose kind can answer
    requests.
    """
    if outcome.termination.startswith("P") and outcome.last_line in shadow.places:
        return shadow.places[outcome.last_line]
    last = next((rule for rule in reversed(rules) if ending().match(rule.text)), None)
    return SourceLine(last.file, last.line, last.text, last.section) if last else None


def _message(data: bytes) -> HttpMessage | None:
    """Parse the head of an HTTP message. Return None if the head is incomplete."""
    head, end, _ = data.partition(b"\r\n\r\n")
    if not end:
        return None
    line, *headers = head.decode("utf-8", "replace").split("\r\n")
    return HttpMessage(line, [Header(name, value.strip()) for name, _, value in (header.partition(":") for header in headers)])


def _unknown_effects(shadow: Shadow, sections: set[str], backend: str, *, has_states: bool) -> Iterator[UnknownEffect]:
    """Yield the lines with unknown effects in the sections of the listener, the rules and the backend."""
    for section in dict.fromkeys((*shadow.doubtful, *shadow.by_health)):
        if section in sections or section.split()[1:2] == [backend]:
            yield from (UnknownEffect(**vars(place), why=why) for place, why in shadow.doubtful.get(section, ()))
            if not has_states:
                yield from (UnknownEffect(**vars(place), why=why_health()) for place in shadow.by_health.get(section, ()))
