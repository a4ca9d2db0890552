import json
from dataclasses import replace
from pathlib import Path

import pytest

from haproxy_native.confirmations import ledger
from haproxy_native.confirmations.ledger import CONFIRMED, OPEN, PENDING, Confirmation, ConfirmationLedger
from haproxy_native.errors import NotFound, Unusable


def of(id_: str) -> Confirmation:
    return Confirmation(id_, "ann", 1.0, 120.0)


def test_remembered(tmp_path: Path) -> None:
    kept = ConfirmationLedger(tmp_path / "new" / "confirmations.json")
    made = kept.add(of)
    assert (made.id, made.status, kept.waiting) == ("1", OPEN, made)
    changed = kept.change("1", status=PENDING, deadline=9.0)
    again = ConfirmationLedger(tmp_path / "new" / "confirmations.json")
    assert again.all() == [changed] == [replace(made, status=PENDING, deadline=9.0)]
    again.change("1", status=CONFIRMED, ended=5.0)
    assert again.waiting is None and again.add(of).id == "2" and [each.id for each in again.all()] == ["2", "1"]
    with pytest.raises(NotFound, match="confirmation 7 does not exist"):
        again.get("7")


def test_the_oldest_are_forgotten(tmp_path: Path) -> None:
    kept = ConfirmationLedger(tmp_path / "confirmations.json")
    for number in range(1, ledger.MOST + 20):
        kept.add(of)
        kept.change(str(number), status=CONFIRMED)
    last = str(ledger.MOST + 19)
    assert len(kept.all()) == ledger.MOST and kept.all()[0].id == last == ConfirmationLedger(tmp_path / "confirmations.json").all()[0].id


@pytest.mark.parametrize("text", ["", "[", "[1]", '[{"id": "1"}]', "{}"])
def test_a_file_that_holds_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "confirmations.json").write_text(text)
    assert ConfirmationLedger(tmp_path / "confirmations.json").all() == []


def test_members_of_a_later_version_are_passed_over(tmp_path: Path) -> None:
    row = {"id": "3", "author": "", "created": 1, "seconds": 2, "later": True}
    (tmp_path / "confirmations.json").write_text(json.dumps([row]))
    assert ConfirmationLedger(tmp_path / "confirmations.json").get("3").seconds == 2


def test_a_disk_that_takes_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unusable, match="cannot be kept"):
        ConfirmationLedger(tmp_path / "file" / "confirmations.json").add(of)
