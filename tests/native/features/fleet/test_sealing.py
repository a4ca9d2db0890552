import pytest

from haproxy_native.features.fleet.sealing import DecryptionFailed, Keyring, new_secret, read_secret

OLD, NEW = (read_secret(new_secret()) for _ in range(2))


def test_what_is_sealed_is_opened_by_its_key_at_its_place_alone() -> None:
    ring, value = Keyring("edge", [OLD]), b"password " * 100
    sealed = ring.encrypt("/edge/head", value)
    assert ring.decrypt("/edge/head", sealed) == value and len(sealed) < 100 and sealed != ring.encrypt("/edge/head", value)
    for other, place, data in (
        (Keyring("edge", [NEW]), "/edge/head", sealed),
        (Keyring("other", [OLD]), "/edge/head", sealed),
        (ring, "/edge/node/lb1", sealed),
        (ring, "/edge/head", sealed[:-1] + bytes([sealed[-1] ^ 1])),
        (ring, "/edge/head", b""),
    ):
        with pytest.raises(DecryptionFailed):
            other.decrypt(place, data)


def test_one_key_replaces_another_without_a_pause() -> None:
    before, between, after = Keyring("edge", [OLD]), Keyring("edge", [NEW, OLD]), Keyring("edge", [NEW])
    assert between.decrypt("a", before.encrypt("a", b"1")) == b"1" == after.decrypt("a", between.encrypt("a", b"1"))


@pytest.mark.parametrize("text", ["", "x", "AAAA", "*" * 44])
def test_what_is_no_key(text: str) -> None:
    with pytest.raises(ValueError, match="no key of a fleet"):
        read_secret(text)
