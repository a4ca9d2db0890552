"""Media types."""

import pytest

from dataplaneapi.api.bodies import check_accept, check_content_encoding, check_content_type, preferred
from dataplaneapi.api.errors import ApiError

JSON = frozenset({"application/json"})
BOTH = JSON | {"text/plain"}


@pytest.mark.parametrize(
    "accept", ["", " ", "*/*", "application/*", "text/html, application/json;q=0.1", "Application/JSON", "application/json"]
)
def test_accepted(accept: str) -> None:
    check_accept(accept, JSON)


@pytest.mark.parametrize(("accept", "available"), [("text/plain", JSON), ("image/png", BOTH), ("text", BOTH), (",", JSON)])
def test_not_accepted(accept: str, available: frozenset[str]) -> None:
    with pytest.raises(ApiError) as error:
        check_accept(accept, available)
    assert error.value.status == 406
    assert error.value.message == f"unsupported media type requested, only [{' '.join(sorted(available))}] are available"


@pytest.mark.parametrize("sent", ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON"])
def test_content_type(sent: str) -> None:
    check_content_type(sent, ("application/json",))


@pytest.mark.parametrize(
    ("sent", "wanted", "said"),
    [
        ("", "application/json", 'header Content-Type has unexpected value ""; send Content-Type: application/json'),
        ("application/x-www-form-urlencoded", "application/json", 'has unexpected value "application/x-www-form-urlencoded"; send'),
        ("text/html; charset=x", "application/json", 'has unexpected value "text/html; charset=x"; send'),
        ("text/html; charset=x", "multipart/form-data", 'has unexpected value "text/html"; send Content-Type: multipart/form-data'),
    ],
)
def test_wrong_content_type(sent: str, wanted: str, said: str) -> None:
    with pytest.raises(ApiError) as error:
        check_content_type(sent, (wanted,))
    assert error.value.status == 415
    assert said in error.value.message


def test_a_compressed_body_is_refused_by_its_header() -> None:
    check_content_encoding("")
    check_content_encoding("Identity")
    with pytest.raises(ApiError, match='header Content-Encoding has unexpected value "gzip"; send the body uncompressed') as error:
        check_content_encoding("gzip")
    assert error.value.status == 415


@pytest.mark.parametrize(
    ("accept", "kind"), [("", "a/b"), ("*/*", "a/b"), ("x/y, C/D;q=0.1, a/b", "c/d"), ("c/*", "a/b"), ("text/html,*/*;q=0.8", "a/b")]
)
def test_the_first_type_that_is_named(accept: str, kind: str) -> None:
    assert preferred(accept, ["a/b", "c/d"]) == kind
