from pathlib import Path

from haproxy_native.transactions.ended import MOST, Ended


def test_why_over_restarts(tmp_path: Path) -> None:
    Ended(tmp_path / "ended").add("a", 0.0, 60.0)
    known = Ended(tmp_path / "ended")
    assert (
        known.why("a")
        == "transaction a was ended at 1970-01-01T00:00:00Z, since it had not been used for 60 s (transaction_ttl); start another one"
    )
    assert known.why("b") == ""


def test_a_file_that_cannot_be_read_costs_the_reason_alone(tmp_path: Path) -> None:
    (tmp_path / "ended").write_text("[1]")
    ended = Ended(tmp_path / "ended")
    assert ended.why("a") == ""
    ended.add("a", 0.0, 60.0)
    assert ended.why("a")


def test_so_many_are_remembered(tmp_path: Path) -> None:
    ended = Ended(tmp_path / "ended")
    for number in range(MOST + 1):
        ended.add(str(number), 0.0, 1.0)
    assert (ended.why("0"), bool(ended.why("1"))) == ("", True)
