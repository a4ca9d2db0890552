"""HAProxy takes an escaped word for exactly one: what a map holds afterwards is what was sent."""

import asyncio

import pytest

from haproxy_native.errors import BadValue
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.socket import Socket
from tests.haproxy.process import HAProxy

WORDS = [
    "plain",
    "two words",
    "a;b",
    "a\\b",
    "a\\",
    "\\;",
    "#hash",
    "a#b",
    '"quoted"',
    "it's",
    "<<",
    "<<x",
    "a\tb",
    "ümlaut",
    "${HOME}",
    "; show info",
]


@pytest.mark.parametrize("through", ["stats", "master"])
def test_words_arrive_as_they_are(haproxy: HAProxy, through: str) -> None:
    socket = Socket(str(haproxy.stats)) if through == "stats" else Socket(str(haproxy.master), worker=True)
    path = argument(str(haproxy.directory / "a.map"))

    async def there_and_back() -> list[str]:
        for number, word in enumerate(WORDS):
            assert await socket.send(f"add map {path} key{number} {argument(word)}") == ""
        return (await socket.send(f"show map {path}")).splitlines()

    shown = [line.split(" ", 2)[2] for line in asyncio.run(there_and_back())]
    assert shown == WORDS


@pytest.mark.parametrize("text", ["", "a\nb", "a\rb", "a\0b"])
def test_what_no_escape_carries(text: str) -> None:
    with pytest.raises(BadValue):
        argument(text)


def test_numbers() -> None:
    assert argument(7) == "7"
