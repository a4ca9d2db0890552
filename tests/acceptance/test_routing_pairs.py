"""Compare a shadow with the real HAProxy, by random configurations and random requests."""

import random
from collections import Counter

import pytest

from tests.acceptance.routing_pairs import WORDS, compared

REQUESTS = 25


def agree(seeds: range, binary: str) -> Counter[str]:
    """Assert that both agree. Return how many rules of each family were applied, and how many requests were compared."""
    counted: Counter[str] = Counter()
    for seed in seeds:
        found = compared(seed, binary, counted, REQUESTS)
        assert not found, "\n\n".join(found[:3])
        counted["pairs"] += REQUESTS if found is not None else 0
    return counted


def test_pairs(haproxy_binary: str) -> None:
    counted = agree(range(12), haproxy_binary)
    assert counted["pairs"] >= 200
    assert not [
        family for family in ("http-request", "use_backend", "tcp-request content", "tcp-request connection") if not counted[family]
    ]


@pytest.mark.soak
def test_ten_thousand_pairs(haproxy_binaries: str) -> None:
    start = random.SystemRandom().randrange(1 << 32)
    print(f"from seed {start}")
    counted = agree(range(start, start + 450), haproxy_binaries)
    assert counted["pairs"] >= 10_000
    assert not [family for family in WORDS["families"] if not counted[family]]
