"""Random texts pushed by callers with limited rights: what is permitted has no effect out of bounds, by a judge that knows lines alone."""

import random
import re
from contextlib import suppress

import pytest

from haproxy_native.access.rights import AccessRule, Rights
from haproxy_native.errors import Forbidden
from haproxy_native.planning.touches import all_touches
from haproxy_native.text.document import Document

EVERY = frozenset(("read", "create", "change", "delete"))
TEXT = """\
# above

global
    maxconn 100
    log 127.0.0.1 local0

defaults base
    mode http
    timeout client 5s

frontend site from base
    bind :80
    acl api path_beg /api
    http-request deny if api
    use_backend shop_b if api
    default_backend shop_a

# the shop
backend shop_a from base
    balance roundrobin
    http-request set-header X-A 1
    server one 127.0.0.1:1 weight 10 check
    server two 127.0.0.1:2 weight 20
    # spare
    server three 127.0.0.1:3 backup

backend shop_b from base
    server one 127.0.0.1:4 weight 5

backend other from base
    option httpchk GET /
    server one 127.0.0.1:5 weight 10
    server two 127.0.0.1:6

resolvers dns
    nameserver one 127.0.0.1:53
"""
PIECES = (
    *(".if 0", ".endif", ".else", "", "#", "# above", "\\", '"', '"${NOPE-frontend}" evil', "backend shop_c from base", "backend other"),
    *(
        "backend shop_a",
        "global",
        "defaults",
        "frontend shop_a",
        "listen shop_d",
        "    server one 127.0.0.1:9",
        "    default-server weight 3",
    ),
    *("    server two 127.0.0.1:2 weight 30", "server one", "    no log", "    acl api always_true", "    http-request deny"),
    *("    weight 3", "\tserver x 127.1:1 # c"),
)
WORDS = ("weight", "10", "from", "base", "shop_a", "other", "one", "two", "backup", "if", "127.0.0.1:7", "\\\n", "'", '"', "#")
HEADER = re.compile(r"(?:global|defaults|frontend|backend|listen|resolvers)\b")


def changed(chance: random.Random, text: str) -> str:
    lines = text.split("\n")
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        place, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        match chance.randrange(8):
            case 0:
                lines.insert(place, chance.choice(PIECES))
            case 1:
                del lines[place]
            case 2:
                lines[place], lines[other] = lines[other], lines[place]
            case 3:
                lines.insert(place, lines[other])
            case 4 | 5:
                lines[place] = re.sub(r"weight \d+", f"weight {chance.randrange(1, 99)}", lines[place])
            case 6:
                words = lines[place].split(" ")
                words[chance.randrange(len(words))] = chance.choice(WORDS)
                lines[place] = " ".join(words)
            case _:
                lines[place] = lines[place].replace(*chance.choice((("shop_a", "other"), ("other", "shop_a"), (" ", "  "), ("one", "two"))))
        lines = lines or [""]
    return "\n".join(lines)


def sections(text: str) -> list[tuple[str, list[str]]]:
    """Headers, with the lines below; comments above a header are below the one before."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in text.split("\n"):
        words = " ".join(line.split())
        if HEADER.match(words):
            found.append((words, []))
        elif words:
            found[-1][1].append(words)
    return found


def is_within_weights(before: str, after: str) -> bool:
    """Weights of servers of shop_* alone."""

    def plain(text: str) -> list[tuple[str, list[str]]]:
        return [(header, [_unweighted(header, line) for line in lines]) for header, lines in sections(text)]

    return plain(before) == plain(after)


def _unweighted(header: str, line: str) -> str:
    return re.sub(r" weight \S+", "", line) if header.startswith("backend shop_") and line.startswith("server ") else line


def is_within_team(before: str, after: str) -> bool:
    """Backends shop_* alone, and comments below them, which may be those above the next one."""

    def others(text: str) -> list[tuple[str, list[str]]]:
        kept = [(header, lines) for header, lines in sections(text) if not header.startswith("backend shop_")]
        return [(header, [line for line in lines if not line.startswith("#")]) for header, lines in kept]

    return others(before) == others(after) and all(
        _is_closed(lines) for header, lines in sections(after) if header.startswith("backend shop_")
    )


def _is_closed(lines: list[str]) -> bool:
    """Whether a section closes the conditions that it opens, and begins no other by a keyword that HAProxy reads from a variable."""
    depth = 0
    for line in lines:
        depth += (line.split()[0] == ".if") - (line.split()[0] == ".endif")
        if depth < 0 or "$" in line or (depth == 0 and line.startswith((".else", ".elif"))):
            return False
    return depth == 0


SCOPES = {
    "weights": (AccessRule("backend/shop_*/server/*", frozenset(("change",)), frozenset(("weight",)), reloads=False), is_within_weights),
    "team": (AccessRule("backend/shop_*", EVERY), is_within_team),
}


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("number", [200, pytest.param(100_000, marks=pytest.mark.soak)])
def test_what_is_permitted_is_within_bounds(scope: str, number: int) -> None:
    rule, is_within = SCOPES[scope]
    rights, before, permitted = Rights((scope,), (rule,)), Document.parse(TEXT), 0
    for seed in range(number):
        after = changed(random.Random(seed), TEXT)
        try:
            rights.permit(all_touches(before, Document.parse(after)))
        except Forbidden:
            continue
        permitted += 1
        assert is_within(TEXT, after), (seed, after)
    assert number / 50 < permitted < number / 2, permitted


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("number", [40, pytest.param(20_000, marks=pytest.mark.soak)])
def test_so_are_transactions_of_many_edits(scope: str, number: int) -> None:
    """Each edit is compared with the text of the transaction, and the commit with the configuration, which others change meanwhile."""
    rule, is_within = SCOPES[scope]
    rights, permitted = Rights((scope,), (rule,)), 0
    for seed in range(number):
        chance = random.Random(seed)
        start = Document.parse(TEXT)
        text = start
        for _ in range(5):
            edited = Document.parse(changed(chance, text.text))
            with suppress(Forbidden):
                rights.permit(all_touches(text, edited))
                text = edited
        now = Document.parse(changed(chance, TEXT)) if chance.random() < 0.2 else start
        with suppress(Forbidden):
            rights.permit(all_touches(now, text))
            permitted += 1
            assert is_within(now.text, text.text), (seed, text.text)
    assert number / 50 < permitted, permitted
