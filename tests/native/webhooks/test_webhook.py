from pathlib import Path

import pytest

from haproxy_native.webhooks.webhook import Webhook, key
from tests.receiver import SECRET

OTHER = "whsec_" + "A" * 32


def test_every_line_of_a_file_is_a_secret(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\n\n {OTHER} \n")
    assert Webhook("a", "http://a", secret_file=str(file)).keys() == [key(SECRET), b"\0" * 24]
    assert Webhook("a", "http://a", SECRET).keys() == [key(SECRET)]


NONE = ["", "plain", "whsec_", "whsec_AAAA", "whsec_!" + "A" * 31, SECRET.removeprefix("whsec_"), "whsec_" + "A" * 400]


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_secret(tmp_path: Path, text: str) -> None:
    file = tmp_path / "secret"
    file.write_text(text)
    with pytest.raises(ValueError, match="openssl rand") as refused:
        Webhook("a", "http://a", secret_file=str(file)).keys()
    assert not text or len(text) < 10 or text not in str(refused.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nosuch"):
        Webhook("a", "http://a", secret_file=str(tmp_path / "nosuch")).keys()
