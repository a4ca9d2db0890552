"""Rules beyond the seeded files, with HAProxy as the referee."""

import subprocess
from pathlib import Path

import pytest

from tests.haproxy import binaries
from tests.native.features.lint.test_lint import found

BASE = "defaults\n  mode http\n  timeout client 1s\n  timeout connect 1s\n  timeout server 1s\nfrontend f\n  bind 127.0.0.1:1\n"


@pytest.mark.parametrize(
    ("lines", "id_", "said"),
    [
        ("  use_backend a if TRUE\n  http-request deny\nbackend a\n", "rule-out-of-order", "placed after"),
        ("  http-request deny { path /x }\n", "condition-without-if", "expects"),
        ("  http-request deny if nothing\n", "acl-undefined", "nothing"),
        ("  default_backend nothing\n", "name-undefined", "nothing"),
        ("  mode tcp\n  http-request deny\n", "http-rule-in-tcp", "ignored"),
        ("  clitimeout 1s\n", "word-deprecated", "clitimeout"),
    ],
)
def test_haproxy_says_so_as_well(lines: str, id_: str, said: str, tmp_path: Path) -> None:
    """Where HAProxy warns or refuses, it means the same line."""
    (tmp_path / "h.cfg").write_text(BASE + lines)
    ran = subprocess.run([binaries.exactly("3.2"), "-c", "-f", "h.cfg"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert said in ran.stderr and found(BASE + lines, id_), ran.stderr


def test_acls_with_conditions_are_taken_without_a_word(tmp_path: Path) -> None:
    lines = "  acl a path /a || path /b\n  acl b path /c if a\n  http-request deny if a b\n"
    (tmp_path / "h.cfg").write_text(BASE + lines)
    ran = subprocess.run([binaries.exactly("3.2"), "-c", "-f", "h.cfg"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0 and len(found(BASE + lines, "acl-with-condition")) == 2


def test_many_rules_are_compared_quickly() -> None:
    rules = "".join(f"  use_backend b if {{ path /{i} }}{' { src 10.0.0.1 }' * 9}\n" for i in range(2_000))
    assert found(f"frontend f\n{rules}{rules}", "rule-repeats-condition")[-1].line == 4_001


def test_a_chain_is_one_however_its_sample_is_written() -> None:
    samples = ("hdr(host)", "req.hdr(host)", "hdr(host) -i", "req.hdr(host) -m str -i", "hdr(host) -m str")
    rules = [f"  acl by{number} {sample} {number}.example\n  use_backend b if by{number}\n" for number, sample in enumerate(samples)]
    (one,) = found(f"backend b\nfrontend f\n{''.join(rules)}", "use-backend-chain")
    assert one.what == "5 rules of frontend f choose by hdr(host), one after the other"
    assert found(f"backend b\nfrontend f\n{''.join(rules[1:])}", "use-backend-chain") == []
