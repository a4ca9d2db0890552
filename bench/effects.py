"""Measure the computation of the effects of a changed weight: one server among many of one backend, and one in one of many backends.

Held against joining the lines of the section that has changed, which is the least that any comparison of texts takes.
"""

import time

from bench.farm import server_line
from haproxy_native.editing.editor import Editor
from haproxy_native.planning.effects import effects
from haproxy_native.text.document import Document

ROW, FLOOR = "effects of one weight", "lines of 50,000 servers joined"
SERVERS = 50_000
BACKENDS = (1, 50)
TRIES = 20


def of_effects(servers: int = SERVERS) -> dict[str, float]:
    """Return the least seconds of each; the effects are those of the slower configuration."""
    lines = [server_line(number, 100) for number in range(servers)]
    return {ROW: max(_least(lines, backends) for backends in BACKENDS), FLOOR: min(_joined(lines) for _ in range(TRIES))}


def _joined(lines: list[str]) -> float:
    began = time.perf_counter()
    "".join(lines)
    return time.perf_counter() - began


def _least(lines: list[str], backends: int) -> float:
    editor, size = Editor(), len(lines) // backends
    text = "".join(f"backend b{number}\n{''.join(lines[number * size :][:size])}" for number in range(backends))
    document, place = Document.parse(text), (backends // 2 * size) + size // 2
    servers, parent, name = editor.resources["servers"], (editor.resources["backends"], f"b{backends // 2}"), f"s{place}"
    body, taken = editor.get_object(document, servers, parent, name), list[float]()
    for number in range(TRIES):
        new = editor.replace(document, servers, parent, name, {**body, "weight": 1 + number})
        began = time.perf_counter()
        (effect,) = effects(document, new)
        taken.append(time.perf_counter() - began)
        assert effect.member == "weight", effect
        document = new
    return min(taken)
