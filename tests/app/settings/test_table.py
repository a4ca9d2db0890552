"""Where each setting comes from, and which source wins."""

from typing import Any

import pytest

from dataplaneapi.settings.table import SettingsError, combine, table


def test_every_setting_has_one_long_flag_and_one_place() -> None:
    rows = list(table())
    flags = [flag for _, source, _ in rows for flag in source.flags]
    places = [source.yaml for _, source, _ in rows]
    assert len(flags) == len(set(flags))
    assert len(places) == len(set(places))
    assert all(sum(flag.startswith("--") for flag in source.flags) == 1 for _, source, _ in rows)


@pytest.mark.parametrize(
    ("flags", "environ", "data", "port"),
    [
        ({}, {}, {}, 0),
        ({}, {}, {"dataplaneapi": {"port": 5}}, 5),
        ({}, {"PORT": "6"}, {"dataplaneapi": {"port": 5}}, 6),
        ({"port": 7}, {"PORT": "6"}, {"dataplaneapi": {"port": 5}}, 7),
        ({}, {"PORT": ""}, {"dataplaneapi": {"port": 5}}, 5),
    ],
)
def test_precedence(flags: dict[str, Any], environ: dict[str, str], data: Any, port: int) -> None:
    assert combine(flags, environ, data).port == port


def test_a_flag_with_a_longer_name_hides_nothing() -> None:
    found = combine(
        {"userlist_file": "/x", "update_map_files_period": 5},
        {},
        {"dataplaneapi": {"userlist": {"userlist": "mine"}, "resources": {"update_map_files": True}}},
    )
    assert (found.userlist, found.update_map_files) == ("mine", True)


@pytest.mark.parametrize(
    "data", [None, {}, {"dataplaneapi": None}, {"dataplaneapi": {}}, {"haproxy": {}}, {"haproxy": {"reload": None}}, {"log_targets": None}]
)
def test_partial_files(data: Any) -> None:
    found = combine({}, {}, data)
    assert (found.reload_delay, found.scheme, found.userlist) == (5, ["http"], "controller")


def test_values_of_each_kind() -> None:
    data = {
        "name": "box",
        "dataplaneapi": {
            "scheme": ["unix"],
            "read_timeout": "2s",
            "max_body_size": "1KB",
            "show_system_info": True,
            "uid": 5,
            "user": [{"name": "a", "password": "b", "insecure": True}],
        },
        "haproxy": {"config_file": "/x", "reload": {"service_name": "h", "validate_files_before": ["/a"]}},
    }
    found = combine({}, {}, data)
    assert (found.name, found.scheme, found.read_timeout, found.max_body_size, found.show_system_info, found.uid) == (
        "box",
        ["unix"],
        2.0,
        1000,
        True,
        5,
    )
    assert (found.config_file, found.service_name, found.validate_files_before) == ("/x", "h", ["/a"])
    assert found.users == [{"name": "a", "password": "b", "insecure": True}]


@pytest.mark.parametrize(
    ("data", "name", "value"),
    [
        ({"dataplaneapi": {"show_system_info": "yes"}}, "show_system_info", True),
        ({"dataplaneapi": {"disable_inotify": "Off"}}, "disable_inotify", False),
        ({"dataplaneapi": {"port": "5555"}}, "port", 5555),
        ({"haproxy": {"reload": {"reload_cmd": True}}}, "reload_cmd", "true"),
        ({"haproxy": {"haproxy_bin": 5}}, "haproxy_bin", "5"),
    ],
)
def test_values_as_templates_write_them(data: Any, name: str, value: Any) -> None:
    assert getattr(combine({}, {}, data), name) == value


@pytest.mark.parametrize(
    ("password", "insecure", "is_warned"),
    [
        ("$5$salt$hash", False, False),
        ("plain", False, True),
        ("plain", True, False),
        ('"${VAR}"', False, False),
        ("rEK1ecacw.7.c", False, False),
    ],
)
def test_a_clear_password_taken_for_a_hash_is_told(password: str, insecure: bool, is_warned: bool) -> None:
    found = combine({}, {}, {"dataplaneapi": {"user": [{"name": "admin", "password": password, "insecure": insecure}]}})
    assert [("user admin" in text, password in text) for text in found.warnings] == [(True, False)] * is_warned


def test_unreadable_durations_are_told_and_not_used() -> None:
    found = combine({}, {}, {"dataplaneapi": {"read_timeout": "soon"}})
    assert found.read_timeout == 30.0
    assert "dataplaneapi.read_timeout: 'soon'" in found.warnings[0]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"dataplaneapi": {"port": "x"}}, "dataplaneapi.port must be a number"),
        ({"dataplaneapi": {"show_system_info": "perhaps"}}, "dataplaneapi.show_system_info must be true or false"),
        ({"dataplaneapi": {"scheme": "http"}}, "dataplaneapi.scheme must be a list"),
        ({"dataplaneapi": {"scheme": ["gopher"]}}, "scheme 'gopher' is not one of"),
        ({"dataplaneapi": {"user": {"name": "a"}}}, "dataplaneapi.user must be a list of maps"),
        ({"haproxy": {"config_file": ["a"]}}, "haproxy.config_file must be a text"),
        ({"dataplaneapi": {"port": 65536}}, "dataplaneapi.port must be from 0 to 65535, not 65536"),
        ({"dataplaneapi": {"tls": {"tls_port": -1}}}, "dataplaneapi.tls.tls_port must be from 0 to 65535, not -1"),
        ({"dataplaneapi": {"uid": 1 << 32}}, "dataplaneapi.uid must be from 0 to"),
        ({"haproxy": {"reload": {"reload_delay": -5}}}, "haproxy.reload.reload_delay must be from 0 to"),
        ({"dataplaneapi": {"cors_origins": ["*"]}}, "dataplaneapi.cors_origins: '*' is not an origin such as"),
        ({"dataplaneapi": {"cors_origins": ["https://a.example/"]}}, "'https://a.example/' is not an origin such as"),
        ({"haproxy": {"preferred_time_suffix": "weeks"}}, "invalid PreferredTimeSuffix value 'weeks'"),
        ({"dataplaneapi": {"acme_programs": ["hook"]}}, "dataplaneapi.acme_programs: 'hook' is not an absolute path"),
        ({"dataplaneapi": {"acme_programs": ["/etc/haproxy/general/../general/x"]}}, "is below general_storage_dir, whose files clients"),
        ({"dataplaneapi": {"api_version": "new"}}, "dataplaneapi.api_version must be a version such as v3"),
        ({"haproxy": {"reload": {"status_cmd": "check 'it"}}}, "haproxy.reload.status_cmd cannot be split into words: No closing"),
    ],
)
def test_what_cannot_be_used_is_refused(data: Any, text: str) -> None:
    with pytest.raises(SettingsError, match=text.replace("(", r"\(").replace("*", r"\*")):
        combine({}, {}, data)


def test_a_wrong_variable_is_named() -> None:
    with pytest.raises(SettingsError, match="variable PORT: 'x' is not a number"):
        combine({}, {"PORT": "x"}, {})


def test_settings_never_print_passwords() -> None:
    assert "secret" not in repr(combine({}, {}, {"dataplaneapi": {"user": [{"name": "a", "password": "secret"}]}}))


@pytest.mark.parametrize(
    ("flags", "data"),
    [({"restart_cmd": "true"}, {}), ({}, {"haproxy": {"reload": {"restart_cmd": "systemctl restart haproxy"}}})],
)
def test_a_setting_without_effect_is_accepted_and_warned_of(flags: dict[str, Any], data: Any) -> None:
    assert combine(flags, {}, data).warnings == ("haproxy.reload.restart_cmd has no effect: HAProxy is never restarted, only reloaded",)
