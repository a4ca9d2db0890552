"""Which settings are corrected, and what is left to the operator."""

from pathlib import Path

import pytest

from dataplaneapi.auth import passwords
from dataplaneapi.doctor.repair import correct_text, write_corrected
from dataplaneapi.settings import yaml_file as settings_file
from dataplaneapi.settings.table import at

BOTH = "haproxy: {resources: {maps_dir: /a, spoe_dir: /s}}\ndataplaneapi: {resources: {maps_dir: /b}}\n"
SOUND = "dataplaneapi:\n  port: 5555\n"


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("transaction: {transaction_dir: /t}\n", "dataplaneapi.transaction.transaction_dir", "/t"),
        ("haproxy: {resources: {maps_dir: /m}}\n", "dataplaneapi.resources.maps_dir", "/m"),
        ("reload: {reload_cmd: r}\n", "haproxy.reload.reload_cmd", "r"),
        ("haproxy: {reload_cmd: r}\n", "haproxy.reload.reload_cmd", "r"),
        ("dataplaneapi: {hots: h}\n", "dataplaneapi.host", "h"),
        ("dataplaneapi: {reload: {relod_cmd: r}}\n", "haproxy.reload.reload_cmd", "r"),
        (
            "haproxy: {resources: {maps_dir: /a, spoe_dir: /s}}\ndataplaneapi: {resources: {maps_dir: /b}}\n",
            "dataplaneapi.resources.maps_dir",
            "/b",
        ),
        ("dataplaneapi: {host: h}\n", "dataplaneapi.port", 5555),
    ],
)
def test_what_has_one_place_gets_there(text: str, path: str, value: object) -> None:
    assert at(settings_file.loaded(correct_text(text)), path) == value


@pytest.mark.parametrize(
    "text",
    [
        SOUND,
        "dataplaneapi:\n  scheme: [unix]\n",
        "dataplaneapi:\n  listeners: [{port: 1}]\n",
        SOUND + "unheard_of: 1\n",
        SOUND + "  hots: a\n  host: b\n",
        SOUND + "  user: [{name: a, password: '\"${SECRET}\"', insecure: true}]\n",
        SOUND + "  user: [{name: a, password: $5$saltsalt$WzUmQii01nfTV1TYCOkBeBwTyxmKMzcJfuoexqMmrA6}]\n",
        "[]\n",
        "a: [\n",
    ],
)
def test_what_is_right_or_unknown_stays(text: str) -> None:
    assert correct_text(text) == text


def test_passwords_become_hashes(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(
        SOUND + "  user:\n    - {name: a, password: 'to,p $ecret', insecure: true}\n    - name: b\n      password: plain # mine\n"
    )
    written = write_corrected(file)
    assert written
    found = at(settings_file.read(str(written[0])), "dataplaneapi.user")
    for user, password in zip(found, ("to,p $ecret", "plain"), strict=True):
        assert passwords.verify(password, user["password"], clear=False)
        assert "insecure" not in user
    assert "ecret" not in written[1]
    assert "plain" not in written[1]
