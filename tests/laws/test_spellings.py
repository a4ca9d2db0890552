"""Every notation of a line that HAProxy accepts is read whole and stays, and an edit of a member changes only the words of this member.

Notations have options in another order or twice, synonyms, and words in quotes. If one is read differently, HAProxy 3.2 must refuse it.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from haproxy_native.errors import NativeError
from haproxy_native.grammar.line_shape import METADATA, LineReading, LineShape
from haproxy_native.grammar.load import grammar
from haproxy_native.grammar.synopsis import Group, MatchedWords, Placeholder, group_of
from haproxy_native.text.line import Line
from haproxy_native.text.words import has_quotes
from tests.haproxy import binaries
from tests.laws import lines
from tests.laws.cases import RULES, Subject, is_asked, subjects
from tests.laws.referee import Case, Referee, furnish
from tests.laws.settings import law

SUBJECTS = {each.name: each for each in subjects()}
SEEDS = some.integers(0, 1 << 32)
LINES, EDITS = 10, 4


@pytest.fixture(params=list(SUBJECTS))
def subject(request: pytest.FixtureRequest) -> Subject:
    return SUBJECTS[request.param]


@pytest.fixture
def referee(tmp_path: Path) -> Referee:
    furnish(tmp_path, RULES["files"])
    return Referee(binaries.exactly("3.2"), tmp_path, RULES["shared"])


def test_what_haproxy_takes_is_read_whole_and_stays(subject: Subject, referee: Referee) -> None:
    wrong: dict[Case, str] = {}

    @law(8)
    @given(SEEDS)
    def look(seed: int) -> None:
        random = Random(seed)
        for usual in chosen(subject, random):
            line = spelled(subject.shape, usual, random)
            if why := misreading(subject.shape, line, subject.shape.read(usual) or {}):
                wrong[subject.case(" ".join(line.words))] = why

    look()
    refused = referee.refused(list(wrong)) if wrong else {}
    assert {case.line: why for case, why in wrong.items() if case not in refused} == {}


def test_an_edit_changes_only_the_words_of_its_member(subject: Subject) -> None:
    shape = subject.shape

    @law(4)
    @given(SEEDS)
    def look(seed: int) -> None:
        random = Random(seed)
        for usual in chosen(subject, random):
            line = spelled(shape, usual, random)
            if misreading(shape, line, shape.read(usual) or {}) is None:
                for member, values in edits(subject, lines.read(shape, line), random):
                    keeps_all_others(shape, line, member, values)

    look()


def chosen(subject: Subject, random: Random) -> list[Line]:
    """Return some lines in their usual notation, including the line with most members."""
    samples = [{name: value for name, value in values.items() if name != METADATA} for values in subject.samples]
    few = random.sample(samples, min(len(samples), LINES))
    usual = [subject.shape.new(values) for values in (max(samples, key=len), *few)]
    return [line for line in usual if is_asked(line.text)]


def spelled(shape: LineShape, usual: Line, random: Random) -> Line:
    """Return the line in a random other notation."""
    reading = lines.taken(shape, usual)
    begin, options, end = list[list[str]](), list[list[str]](), list[list[str]]()
    is_reordered = False
    for part in reading.parts:
        group, words = group_in(reading, part), list(usual.words[part.start : part.end])
        is_reordered = is_reordered or group is not None
        if group is None or group.is_condition:
            (end if group else options if is_reordered else begin).append(words)
            continue
        synonyms = [each.write(part.values) for each in group.alternatives if set(each.members) == set(part.values)]
        options.append(random.choice(synonyms or [words]))
        is_named = not isinstance(group.alternatives[0].nodes[0], Placeholder) and not group.rows
        if is_named and random.random() < 0.1:
            options.append(options[-1])
    random.shuffle(options)
    words = [word if random.random() < 0.7 else in_quotes(word, random) for part in (*begin, *options, *end) for word in part]
    return Line("  " + "   ".join(words) + "  # a comment\n")


def group_in(reading: LineReading, part: MatchedWords) -> Group | None:
    return group_of(part.key, reading.alternative.chain.nodes[part.key[0]]) if part.key else None


def in_quotes(word: str, random: Random) -> str:
    """Return the word in quotes. A word that has quotes is returned unchanged."""
    return word if has_quotes(word) or "$" in word else random.choice([f'"{word}"', f"'{word}'", f'{word[0]}"{word[1:]}"'])


def misreading(shape: LineShape, line: Line, wanted: Mapping[str, Any]) -> str | None:
    """Return how the line is read differently from the usual notation, or how an edit without a change would change it."""
    reading, found = shape.parse_words(line.words), shape.read(line)
    if reading is None or found is None:
        return "not read"
    if unknown := [line.words[place] for place in reading.unknown]:
        return f"unknown: {unknown}"
    said = {name: value for name, value in found.items() if name != METADATA}
    if said.keys() != wanted.keys() or not all(wanted[name] == said[name] or lines.is_same(wanted[name], said[name]) for name in wanted):
        return f"{said} is read of what says {dict(wanted)}"
    try:
        after = shape.onto(line, found)
    except NativeError as error:
        return str(error)
    return None if after is line else f"becomes {after.text}"


def edits(subject: Subject, found: Mapping[str, Any], random: Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield objects that differ from the read object in one member."""
    shape = subject.shape
    alike = [sample for sample in subject.samples if all(sample.get(name) == found.get(name) for name in shape.chosen_by)]
    names = sorted({name for sample in alike for name in sample} - {METADATA, *shape.chosen_by})
    for name in random.sample(names, min(len(names), EDITS)):
        others = [sample[name] for sample in alike if name in sample and sample[name] != found.get(name)]
        if others:
            yield name, {**found, name: random.choice(others)}
        if name in found:
            yield name, {other: value for other, value in found.items() if other != name}


def keeps_all_others(shape: LineShape, line: Line, member: str, values: Mapping[str, Any]) -> None:
    """Assert that the words of all other members stay, in the same order, with the blanks before them."""
    try:
        after = shape.onto(line, values)
    except NativeError:
        return
    before, now = lines.taken(shape, line), lines.taken(shape, after)
    if before.alternative is now.alternative:
        assert others(line, before, member) == others(after, now, member), f"{member}: {line.text!r} became {after.text!r}"


def others(line: Line, reading: LineReading, member: str) -> list[tuple[str, str]]:
    pairs = list(zip(line.split.gaps, line.split.words, strict=True))
    return [pair for part in reading.parts if not has(reading, part, member) for pair in pairs[part.start : part.end]]


def has(reading: LineReading, part: MatchedWords, member: str) -> bool:
    node = group_in(reading, part) or part.by
    return node is not None and member in {name.split(".")[0] for name in node.members}


@pytest.mark.parametrize(
    ("schema", "line", "members", "edited"),
    [
        (
            "http_request_rule",
            "http-request redirect code 301 location /x",
            {"redir_code": 303},
            "http-request redirect code 303 location /x",
        ),
        (
            "http_request_rule",
            "http-request redirect location /y set-cookie A=1 code 302",
            {"redir_code": 303},
            "http-request redirect location /y set-cookie A=1 code 303",
        ),
        (
            "http_request_rule",
            "http-request redirect drop-query prefix /y code 302   append-slash if a",
            {"redir_option": "drop-query"},
            "http-request redirect drop-query prefix /y code 302 if a",
        ),
        (
            "http_request_rule",
            "http-request redirect drop-query prefix /y code 302   append-slash if a",
            {"redir_code": None},
            "http-request redirect drop-query prefix /y   append-slash if a",
        ),
        (
            "http_response_rule",
            "http-response deny status 502",
            {"return_content_type": "", "deny_status": 503},
            "http-response deny status 503",
        ),
        ("http_response_rule", "http-response deny status 502", {"return_content_type": ""}, "http-response deny status 502"),
        (
            "http_request_rule",
            "http-request deny hdr a 'b c'  status 403",
            {"deny_status": 404},
            "http-request deny hdr a 'b c'  status 404",
        ),
        (
            "http_request_rule",
            "'http-request'  deny if  TRUE",
            {"type": "tarpit"},
            "'http-request'  tarpit if  TRUE",
        ),
        ("http_request_rule", "http-request sc-inc-gpc0 if a", {"cond": "unless"}, "http-request sc-inc-gpc0 unless a"),
        ("tcp_request_rule", "tcp-request content sc-set-gpt0 1", {"sc_inc_id": "2"}, "tcp-request content sc-set-gpt0(2) 1"),
        ("http_request_rule", "http-request deny if   a   b", {"cond": "unless"}, "http-request deny unless   a   b"),
        (
            "http_error_rule",
            "http-error content-type text/plain status 503",
            {"status": 500},
            "http-error content-type text/plain status 500",
        ),
        (
            "http_request_rule",
            "http-request wait-for-body at-least 1k time 1s",
            {"wait_time": 2000},
            "http-request wait-for-body at-least 1k time 2s",
        ),
        ("log_target", 'log 127.0.0.1:514 local0 "info"', {"level": "debug"}, "log 127.0.0.1:514 local0 debug"),
        ("log_target", "log 127.0.0.1:514 local0 \"info\" 'alert'", {"minlevel": "crit"}, 'log 127.0.0.1:514 local0 "info" crit'),
        (
            "http_check",
            "http-check expect comment c ! rstatus '2..' min-recv 4",
            {"min_recv": 5},
            "http-check expect comment c ! rstatus '2..' min-recv 5",
        ),
        (
            "http_check",
            "http-check expect hdr name X value y comment c",
            {"pattern": "name X"},
            "http-check expect hdr name X comment c",
        ),
        ("server", "server s '192.0.2.1:80' \"weight\" '10' check", {"weight": 20}, "server s '192.0.2.1:80' \"weight\" 20 check"),
        ("user", "user alice", {"groups": "admins"}, "user alice groups admins"),
        ("user", "user alice  groups admins", {"groups": None}, "user alice"),
        (
            "filter",
            "filter bwlim-in x min-size 3 key src table t limit 1k",
            {"key": "dst"},
            "filter bwlim-in x min-size 3 key dst table t limit 1k",
        ),
    ],
)
def test_reduced(schema: str, line: str, members: dict[str, Any], edited: str) -> None:
    shape, old = grammar().line(schema), Line(f"{line}\n")
    found = lines.read(shape, old)
    lines.stays(shape, old)
    values = {name: value for name, value in {**found, **members}.items() if value is not None}
    assert shape.onto(old, values).text == f"{edited}\n"


def test_a_value_that_a_line_has_is_still_required() -> None:
    shape = grammar().line("user")
    with pytest.raises(NativeError, match="secure_password in body is required"):
        shape.onto(Line("user alice password x\n"), {"username": "alice"})
    with pytest.raises(NativeError, match="secure_password in body is required"):
        shape.new({"username": "alice"})
