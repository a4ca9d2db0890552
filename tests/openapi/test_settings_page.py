"""Generate the page of settings."""

import re

from dataplaneapi.settings.table import combine, table
from openapi.settings_page import page


def test_every_setting_stands_on_it_once() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (`-.*?`)[ ;]", page(), re.MULTILINE)
    assert sorted(key for key, _ in rows) == sorted(source.yaml.rpartition(".")[2] for _, source, _ in table())
    for _, source, _ in table():
        assert f"`{source.flags[-1]}`" in page()
        assert source.env is None or f"variable `{source.env}`" in page()


def test_its_yaml_places_lead_to_their_settings() -> None:
    place, key = re.search(r"## `(dataplaneapi\.tls)`.*?\| `(\w+_certificate)`", page(), re.DOTALL).groups()  # type: ignore[union-attr]
    outer, inner = place.split(".")
    assert combine({}, {}, {outer: {inner: {key: "/x"}}}).tls_certificate == "/x"
