"""Stored passwords of every kind."""

import pytest

from dataplaneapi.auth.passwords import cost, expanded, hashed, new_hash, verify

HASHES = {
    "sha256": ("sha256pw", "$5$saltsalt$WzUmQii01nfTV1TYCOkBeBwTyxmKMzcJfuoexqMmrA6"),
    "sha512": ("sha512pw", "$6$saltsalt$4tunjKVuZncbXa0keYjfESkXJUqiWNDNjPLUgx2nQ6AlupqEiGSROLeZQ9GydXZv/JBhOV2OIAPlVA8lJ8vA91"),
    "md5": ("md5pw", "$1$saltsalt$W3ClrTpTLVmb5RDs4OA2o/"),
    "rounds": ("sha256pw", "$5$rounds=6000$saltsalt$UojIljI829DnFO4gz/wnjP5/j4TtILaiHCRUApERuR."),
}
# Settings of methods whose hash the test makes itself.
SETTINGS = {"yescrypt": "$y$j75$saltsaltsalt", "bcrypt": "$2b$04$abcdefghijklmnopqrstuu", "des": "ab"}


@pytest.mark.parametrize("name", HASHES)
def test_known_hashes(name: str) -> None:
    password, stored = HASHES[name]
    assert verify(password, stored, clear=False)
    assert not verify(password + "x", stored, clear=False)
    assert not verify(stored, stored, clear=False)


@pytest.mark.parametrize("name", SETTINGS)
def test_every_method_of_the_library(name: str) -> None:
    stored = hashed("right", SETTINGS[name])
    if stored is None:
        pytest.skip(f"this libcrypt has no {name}")
    assert verify("right", stored, clear=False)
    assert not verify("wrong", stored, clear=False)


@pytest.mark.parametrize("stored", ["", "$9$what$is", "plain", "*0", "$5$", "\0"])
def test_what_is_no_hash_matches_nothing(stored: str) -> None:
    assert not verify("plain", stored, clear=False)
    assert not verify("", stored, clear=False)


def test_a_new_hash_has_its_own_salt() -> None:
    first, second = new_hash("right"), new_hash("right")
    assert first and second
    assert first != second
    assert verify("right", first, clear=False)
    assert not verify("wrong", first, clear=False)
    assert new_hash("\0") is None


def test_clear_text() -> None:
    assert verify("grün", "grün", clear=True)
    assert not verify("Grün", "grün", clear=True)


def test_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPAPI_PASSWORD", "from outside")
    assert expanded('"${DPAPI_PASSWORD}"') == "from outside"
    assert verify("from outside", '"${DPAPI_PASSWORD}"', clear=True)
    assert not verify('"${DPAPI_PASSWORD}"', '"${DPAPI_PASSWORD}"', clear=True)
    for stored in ('"$DPAPI_PASSWORD"', '"${DPAPI_PASSWORD-other}"'):
        assert expanded(stored) == "from outside" and not verify(stored.strip('"'), stored, clear=True)
    assert expanded('"x${DPAPI_PASSWORD}\\$y"') == "xfrom outside$y"
    assert expanded("x\"$DPAPI_PASSWORD\"'$y'") == "xfrom outside$y" and expanded(r'"\\$DPAPI_PASSWORD"') == r"\from outside"
    assert expanded('"${DPAPI_UNSET-other}"') == "other" and expanded('"a${DPAPI_UNSET}"') is None
    monkeypatch.setenv("DPAPI_PASSWORD", HASHES["md5"][1])
    assert verify("md5pw", '"${DPAPI_PASSWORD}"', clear=False)


@pytest.mark.parametrize("value", [None, ""])
def test_an_unset_or_empty_variable_lets_nobody_in(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPAPI_PASSWORD", value or "")
    if value is None:
        monkeypatch.delenv("DPAPI_PASSWORD")
    assert not verify("", '"${DPAPI_PASSWORD}"', clear=True)


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ("$5$saltsalt$hash", "$5"),
        ("$6$rounds=6000$saltsalt$hash", "$6$rounds=6000"),
        ("$y$j75$saltsaltsalt$hash", "$y$j75"),
        ("$2b$04$abcdefghijklmnopqrstuuhash", "$2b$04"),
        ("$7$CU..../....salt$hash", "$7$CU..../...."),
        ("abJnggxhB/yWI", "des"),
    ],
)
def test_costs(stored: str, expected: str) -> None:
    assert cost(stored, clear=False) == expected
    assert cost(stored, clear=True) == ""
