import pytest

from haproxy_native.webhooks.pace import Answer, retry_after, until_retry


def test_delays_double_up_to_five_minutes_and_differ() -> None:
    assert [until_retry(failures, 0, lambda: 1) for failures in (1, 2, 3, 8, 9, 10, 10**9)] == [1, 2, 4, 128, 256, 300, 300]
    assert [until_retry(failures, 0, lambda: 0) for failures in (1, 10)] == [0.5, 150]


def test_a_receiver_may_ask_for_more_within_an_hour_but_not_for_less() -> None:
    assert [until_retry(2, asked, lambda: 1) for asked in (1, 30, 10**6)] == [2, 30, 3600]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 40),
        ("Thu, 01 Jan 1970 00:01:40 -0000", 40),
        ("Thu, 01 Jan 1970 00:00:10 GMT", 0),
        ("", 0),
        ("-1", 0),
        ("soon", 0),
        ("9" * 400, 999_999_999),
        ("²", 0),
    ],
)
def test_what_is_asked(text: str, seconds: float) -> None:
    assert retry_after(text, 60) == seconds


def test_what_an_answer_means() -> None:
    assert [Answer(status).is_taken for status in (0, 199, 200, 299, 301, 500)] == [False, False, True, True, False, False]
    assert [Answer(status).is_refusal for status in (400, 401, 404, 413, 422, 500)] == [True, False, False, True, True, False]
