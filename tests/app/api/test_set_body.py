"""Parts of a set are kept as they arrive: texts as a whole, files piece by piece."""

from pathlib import Path

import pytest

from dataplaneapi.api.bodies import WHOLE_BYTES
from dataplaneapi.api.call import Call
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.upload import ConfigurationForm, Part
from dataplaneapi.auth.caller import CallAuthor
from haproxy_native.errors import Incomplete
from haproxy_native.storage.store import PIECE
from haproxy_native.text.parts import MAIN
from tests.app.client import Client


@pytest.fixture
def form(client: Client, tmp_path: Path) -> ConfigurationForm:
    operation = next(each for each in client.app.services.index.operations if each.id == "planConfiguration")
    return ConfigurationForm(Call(client.app.services, operation, {}, {}, CallAuthor(), None))


def test_a_file_arrives_in_pieces(client: Client, form: ConfigurationForm) -> None:
    async def receive() -> None:
        await form.begin(Part("maps", "nets"))
        for piece in (b"a b\n", b"c " * PIECE, b"\n"):
            await form.append(piece)
        await form.begin(Part("configuration", None))
        await form.append(b"glo")
        await form.append(b"bal\n")
        await form.begin(Part("general", "empty"))
        await form.end()

    client.runner.run(receive())
    first, second = form.files
    held = [(file.path.name, file.draft and file.draft.path.read_bytes()) for file in (first, second)]
    assert held == [("nets.map", b"a b\n" + b"c " * PIECE + b"\n"), ("empty", b"")]
    assert {name: put.text.data for name, put in form.texts.items()} == {MAIN: b"global\n"}
    assert not first.path.exists()
    for upload in form.uploads.values():
        upload.discard()


def test_a_masked_secret_is_refused(client: Client, form: ConfigurationForm) -> None:
    async def receive() -> None:
        await form.begin(Part("configuration", None))
        await form.append(b"userlist u\n  user a insecure-password <masked>\n")
        await form.end()

    with pytest.raises(Incomplete, match="line 2 has <masked>"):
        client.runner.run(receive())


def test_texts_have_a_limit_and_files_another(client: Client, form: ConfigurationForm) -> None:
    async def receive() -> None:
        await form.begin(Part("maps", "nets.map"))
        await form.append(bytes(WHOLE_BYTES))
        await form.begin(Part("configuration", "haproxy.cfg"))
        await form.append(bytes(WHOLE_BYTES))
        await form.append(b"x")

    with pytest.raises(ApiError, match="part configuration, haproxy.cfg: texts exceed the maximum allowed size") as error:
        client.runner.run(receive())
    assert error.value.status == 413
