from dataplaneapi.doctor.finding import ERROR, OK, DoctorFinding


def test_it_is_a_line_and_one_with_the_remedy() -> None:
    assert str(DoctorFinding(OK, "users", "3")) == "ok      users: 3"
    assert str(DoctorFinding(ERROR, "users", "none", "add one")) == "error   users: none\n        add one"
