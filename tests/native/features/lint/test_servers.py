"""Servers beyond the seeded files."""

from tests.native.features.lint.test_lint import found


def test_many_servers_without_a_check_are_one_finding() -> None:
    servers = "".join(f"  server s{i} 10.0.0.{i}:80 # {i}\n" for i in range(9))
    (one,) = found(f"backend b\n{servers}", "server-without-check")
    assert "s0, s1, s2 and others" in one.what and one.new_line == "server s0 10.0.0.0:80 check"
