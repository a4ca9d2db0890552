"""`acme status`, as HAProxy 3.2 and 3.4 print it."""

from haproxy_native.acme.haproxy_output import parse_status

HEAD = "# certificate\tsection\tstate\texpiration date (UTC)\texpires in\tscheduled date (UTC)\tscheduled in\n"


def test_each_certificate_is_one_object() -> None:
    text = HEAD + "@s/foo.pem\tle\tScheduled\t2026-11-23T05:30:59Z\t0d 23h58m40s\t2026-11-23T03:30:59Z\t0d 21h58m40s\n"
    assert list(parse_status(text)) == [
        {
            "certificate": "@s/foo.pem",
            "acme_section": "le",
            "state": "Scheduled",
            "expiry_date": "2026-11-23T05:30:59.000Z",
            "expiries_in": "0d 23h58m40s",
            "scheduled_renewal": "2026-11-23T03:30:59.000Z",
            "renewal_in": "0d 21h58m40s",
        }
    ]


def test_what_is_not_scheduled_has_the_zero_date() -> None:
    (row,) = parse_status(HEAD + "a\tle\tRunning\t2026-11-23T05:30:59Z\t0d 23h58m37s\t-\t-\n")
    assert (row["scheduled_renewal"], row["renewal_in"]) == ("0001-01-01T00:00:00.000Z", "-")


def test_none() -> None:
    assert list(parse_status(HEAD)) == list(parse_status("")) == []
