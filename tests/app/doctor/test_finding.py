from dataplaneapi.doctor.finding import ERROR, OK, Finding


def test_it_is_a_line_and_one_with_the_remedy() -> None:
    assert str(Finding(OK, "users", "3")) == "ok      users: 3"
    assert str(Finding(ERROR, "users", "none", "add one")) == "error   users: none\n        add one"
