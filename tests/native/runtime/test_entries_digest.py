"""One digest for the same entries, wherever they stand in memory and however the answer comes."""

from haproxy_native.runtime.dumps import EntriesDigest

ANSWER = b"0x55d0a1 a.example one\n0x55d0b2 b.example two words\n\n"


def digest(*pieces: bytes) -> str:
    taken = EntriesDigest()
    for piece in pieces:
        taken.take(piece)
    return taken.value


def test_places_in_memory_and_pieces_do_not_count() -> None:
    whole = digest(ANSWER)
    assert whole == digest(ANSWER.replace(b"0x55d0", b"0x7f")) == digest(ANSWER.strip(b"\n") + b"\n")
    for at in range(1, len(ANSWER)):
        pieces = EntriesDigest()
        pieces.take(ANSWER[:at])
        pieces.take(ANSWER[at:])
        assert pieces.value == digest(ANSWER), at


def test_values_keys_and_their_order_count() -> None:
    first, second = ANSWER.splitlines(keepends=True)[:2]
    others = [digest(second + first), digest(first), digest(ANSWER.replace(b"two", b"0x2")), digest(b"\n")]
    assert len({digest(ANSWER), *others}) == 5


def test_it_begins_anew_with_each_attempt() -> None:
    taken = EntriesDigest()
    taken.take(b"0x1 cut off")
    taken.start()
    taken.take(ANSWER)
    assert taken.value == digest(ANSWER)
