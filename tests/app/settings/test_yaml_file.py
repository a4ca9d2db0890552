"""The server's own YAML file."""

import stat
from pathlib import Path

import pytest

from dataplaneapi.settings.table import SettingsError, combine
from dataplaneapi.settings.yaml_file import is_settings_file, read, unknown_keys, write_back

FULL = """\
# how we run it
config_version: 2
name: box        # the name
dataplaneapi:
  host: 127.0.0.1
  scheme:
    - http
  # who may come in
  user:
    - name: "admin"
      password: 'secret'
      insecure: true
  advertised: {api_address: "", api_port: 0}
  userlist:
    userlist: controller
    userlist_file: ""
haproxy:
  reload:
    reload_strategy: custom
ours: kept
"""


def write(tmp_path: Path, text: str) -> str:
    path = tmp_path / "dataplaneapi.yaml"
    path.write_text(text)
    return str(path)


def test_a_file_that_says_everything_is_not_touched(tmp_path: Path) -> None:
    path = write(tmp_path, FULL)
    assert not write_back(combine({}, {}, read(path), file=path))
    assert Path(path).read_text() == FULL


def test_what_is_missing_is_added_and_the_rest_stays(tmp_path: Path) -> None:
    path = write(tmp_path, FULL.replace("config_version: 2\n", "").replace('    userlist_file: ""\n', ""))
    Path(path).chmod(0o600)
    assert write_back(combine({}, {}, read(path), file=path))
    lines = Path(path).read_text().splitlines()
    assert sorted(line.replace("''", '""') for line in lines) == sorted(FULL.splitlines())
    assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600
    assert not write_back(combine({}, {}, read(path), file=path))


def test_a_new_file(tmp_path: Path) -> None:
    path = str(tmp_path / "new.yaml")
    assert read(path) is None
    assert write_back(combine({}, {}, {}, file=path))
    data = read(path)
    assert (data["config_version"], data["dataplaneapi"]["userlist"]["userlist"], data["haproxy"]["reload"]["reload_strategy"]) == (
        2,
        "controller",
        "custom",
    )
    assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "text",
    [
        "# only a comment\n",
        "dataplaneapi:\n    host: x   # four deep\n\n    user:\n    -   name: a\n        password: |\n          b\n\n# tail\nhaproxy: {}\n",
        "dataplaneapi:\r\n  host: x\r\n",
        "haproxy:\n  reload:  # later\ndataplaneapi: {port:   0x15B3}\n\n\n",
        "---\ndataplaneapi: &api\n  host: x\nspare: *api\n...\n",
        "dataplaneapi:\n  show_system_info: yes\n  name: 'ü'",
    ],
)
def test_every_line_survives_in_its_order(tmp_path: Path, text: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_bytes(text.encode())
    assert write_back(combine({}, {}, read(str(path)), file=str(path)))
    written = path.read_bytes().decode()
    rest = iter(written.splitlines(keepends=True))
    lost = [line for line in text.splitlines() if not any(_begins_alike(line, each) for each in rest)]
    assert lost == []
    assert ("\r" in written) == ("\r" in text)
    assert unchanged(path)


def _begins_alike(old: str, new: str) -> bool:
    """A flow map may have got members before its end."""
    return new.rstrip("\r\n").startswith(old.rstrip("}"))


def unchanged(path: Path) -> bool:
    return not write_back(combine({}, {}, read(str(path)), file=str(path)))


def test_what_cannot_be_edited_where_it_stands_is_written_anew(tmp_path: Path) -> None:
    """The map is also another one's, which must not change with it."""
    path = Path(write(tmp_path, "dataplaneapi: &api {host: x, advertised: &a {api_address: h}}\nhaproxy: {<<: *a}\n"))
    assert write_back(combine({}, {}, read(str(path)), file=str(path)))
    data = read(str(path))
    assert (data["dataplaneapi"]["advertised"]["api_port"], data["haproxy"]["reload"]["reload_strategy"]) == (0, "custom")
    assert unchanged(path)


def test_what_was_read_stays_as_it_was(tmp_path: Path) -> None:
    """The settings hold parts of it."""
    path = write(tmp_path, "dataplaneapi: {host: x, advertised: {api_address: h}}\n")
    data = read(path)
    found = combine({}, {}, data, file=path)
    assert write_back(found)
    assert data == {"dataplaneapi": {"host": "x", "advertised": {"api_address": "h"}}}
    assert read(path)["dataplaneapi"]["advertised"] == {"api_address": "h", "api_port": 0}


def test_an_empty_list_of_log_targets_goes_and_a_scheme_comes(tmp_path: Path) -> None:
    path = write(tmp_path, "dataplaneapi: {host: 127.0.0.1}\nlog_targets: []\n")
    write_back(combine({}, {}, read(path), file=path))
    data = read(path)
    assert "log_targets" not in data
    assert data["dataplaneapi"]["scheme"] == ["http"]


@pytest.mark.parametrize(
    "text", ["a: [1", "just words", "global\n  maxconn 1\n", "frontend a\n  bind :80\n", "- a\n- b\n", "a: 1\na: 2\n", "\tx: y\n"]
)
def test_no_yaml(tmp_path: Path, text: str) -> None:
    with pytest.raises(
        SettingsError, match=r"not valid \(only yaml format is supported\): .*; if it is an HAProxy configuration, pass it with -c$"
    ):
        read(write(tmp_path, text))


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_only_utf_8_is_read(tmp_path: Path, encoding: str) -> None:
    """Else it could not be completed."""
    path = tmp_path / "dataplaneapi.yaml"
    path.write_bytes("name: bäckerei\n".encode(encoding))
    with pytest.raises(SettingsError, match=r"not valid \(only yaml format is supported\): 'utf-8' codec can't decode"):
        read(str(path))


@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        (FULL.replace("ours: kept\n", ""), []),
        ("dataplaneapi: {hots: x}\n", ["unknown key dataplaneapi.hots in the settings file; did you mean dataplaneapi.host?"]),
        ("reload_delay: 5\n", ["unknown key reload_delay in the settings file; did you mean haproxy.reload.reload_delay?"]),
        ("dataplaneapi: {resources: {colour: /x}}\n", ["unknown key dataplaneapi.resources.colour in the settings file"]),
        ("dataplaneapi: {user: [{name: a, colour: b}]}\n", []),
    ],
)
def test_unknown_keys(tmp_path: Path, text: str, warnings: list[str]) -> None:
    assert list(unknown_keys(read(write(tmp_path, text)))) == warnings


@pytest.mark.parametrize(
    ("text", "ours"),
    [(FULL, True), ("haproxy:\n  config_file: /x\n", True), ("global\n  maxconn 5\n\nfrontend haproxy:\n", False), ("", False)],
)
def test_which_file_is_ours(tmp_path: Path, text: str, ours: bool) -> None:
    assert is_settings_file(write(tmp_path, text)) is ours
    assert not is_settings_file(str(tmp_path / "none"))
