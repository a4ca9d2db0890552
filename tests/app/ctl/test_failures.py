"""Statuses by what the server answers."""

import pytest

from dataplaneapi.ctl import failures


@pytest.mark.parametrize(("code", "status"), [(400, 1), (404, 1), (422, 1), (500, 1), (409, 3), (412, 3), (406, 3), (401, 7), (403, 7)])
def test_statuses_of_answers(code: int, status: int) -> None:
    assert failures.RefusedCall(code, None, "why").status == status


def test_all_others_are_wrong_use() -> None:
    assert failures.Failure("why").status == failures.USAGE == 2
