"""What an answer writes reaches the transport at once; a recording holds it as long as it is small."""

from typing import Any

import pytest

from dataplaneapi.server.connection import LARGEST, Outlet, RecordingOutlet


class Sink:
    """A transport that is open."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        self.data += data

    is_closing = bool


@pytest.mark.parametrize(
    ("pieces", "recorded"),
    [([b"one", b"two"], b"onetwo"), ([b"a" * LARGEST], b"a" * LARGEST), ([b"a" * LARGEST, b"b", b"c"], b"")],
    ids=["small", "just so", "large"],
)
def test_a_recording(pieces: list[bytes], recorded: bytes) -> None:
    sink, closed = Sink(), list[bool]()
    transport: Any = sink
    outlet = RecordingOutlet(Outlet(transport, lambda: closed.append(True)), b"GET")
    for piece in pieces:
        outlet.write(piece)
    outlet.close()
    assert sink.data == b"".join(pieces)
    assert outlet.written == recorded
    assert not outlet.is_closing()
    assert (outlet.packet, closed) == (b"GET", [True])


def test_what_is_forgotten_stays_so() -> None:
    transport: Any = Sink()
    outlet = RecordingOutlet(Outlet(transport, lambda: None), b"GET")
    outlet.write(b"one")
    outlet.discard()
    outlet.write(b"two")
    assert outlet.written == b""
