"""What HAProxy decides for the servers of a backend when it loads the file, and refuses by command from then on. Pure.

Most algorithms use a map that it computes once (HAProxy Configuration Manual, "balance" and "hash-type"): there it takes no other weight
than 0 and that of the start, and no further server.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from haproxy_native.text.section import Section
from haproxy_native.text.words import unquoted

# Algorithms that take weights and servers at any time; each other one does with `hash-type consistent`, but for STATIC.
DYNAMIC = frozenset(("", "roundrobin", "leastconn", "first", "random", "sticky", "log-hash"))
STATIC = "static-rr"
CONSISTENT = "consistent"


@dataclass(frozen=True)
class Fixed:
    """Why HAProxy takes no other `weights` there, no `additions` and nothing at all (`everything`); empty where it does."""

    weights: str = ""
    additions: str = ""
    everything: str = ""


def fixed(chain: Iterable[Section]) -> Fixed:
    """Return what is fixed in a proxy; `chain` is its section, then the defaults sections that it inherits from, the nearest first."""
    said: dict[str, tuple[str, ...]] = {}
    for section in chain:
        said = dict(_said(section)) | said
    algorithm = unquoted(said.get("balance", ("balance", ""))[1])
    if unquoted(said.get("disabled", ("",))[0]) == "disabled":
        return Fixed(everything="HAProxy does nothing in a proxy that is disabled")
    if "dispatch" in said or said.get("option transparent", ("no",))[0] == "option":
        return Fixed(*["HAProxy balances no load here"] * 2)
    hashing = said.get("hash-type", ("hash-type", ""))[1]
    if algorithm == STATIC or (algorithm.partition("(")[0] not in DYNAMIC and unquoted(hashing) != CONSISTENT):
        why = f"HAProxy computes balance {algorithm} when it loads the file"
        return Fixed(f"{why}, with the weights that servers have then", f"{why}, with the servers that it finds there")
    return Fixed(additions="mode log takes servers from the file only" if unquoted(said.get("mode", ("mode", ""))[1]) == "log" else "")


def _said(section: Section) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The lines that decide it, the last of a kind counts."""
    for line in section.lines[1:]:
        match line.words:
            case ("balance" | "hash-type" | "mode" as keyword, _, *_):
                yield keyword, line.words
            case ("dispatch" as keyword, *_):
                yield keyword, line.words
            case ("disabled" | "enabled", *_):
                yield "disabled", line.words
            case ("option", "transparent", *_) | ("no", "option", "transparent", *_):
                yield "option transparent", line.words
