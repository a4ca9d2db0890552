"""The process beyond the seeded files."""

from tests.native.features.lint.test_lint import found


def test_a_name_of_the_own_peer_that_cannot_be_known() -> None:
    peers = "peers p\n  peer other 10.0.0.1:1\n"
    for lines in ('  localpeer "${HOSTNAME}"\n', "  .if defined(X)\n  localpeer me\n  .endif\n", "  localpeer a\n  localpeer b\n", ""):
        assert found(f"global\n{lines}{peers}", "local-peer-missing") == []
