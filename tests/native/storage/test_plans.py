"""From what runs to steps or reasons."""

from pathlib import Path

import pytest

from haproxy_native.editing.file_references import FileReference
from haproxy_native.storage.certificate_store import LoadedCertificate, certificate_way
from haproxy_native.storage.store import RuntimeWay, file_plan

LINE = FileReference("frontend f", 3, "errorfile", "errorfile 503 x")


def test_a_reload_where_the_running_configuration_refers_to_it() -> None:
    plan = file_plan(RuntimeWay(obstacle="why"), [LINE], [LINE])
    assert (plan.used, plan.awaited) == (True, True)
    assert [(each.section, each.line, each.keyword, each.why) for each in plan.reasons] == [("frontend f", 3, "errorfile", "why")]


def test_nothing_where_nobody_does() -> None:
    plan = file_plan(RuntimeWay(obstacle="why"), [], [LINE])
    assert (plan.used, plan.awaited, plan.reasons) == (False, True, [])


PATH = Path("/ssl/a.pem")
CERTIFICATES = [
    (LoadedCertificate(), [], [], ([], [], False, False)),
    (LoadedCertificate(["/ssl/a.pem"]), [], [], ([], [], False, False)),
    (LoadedCertificate(["/ssl/a.pem"], is_used=True), [LINE], [LINE], ([["set ssl cert /ssl/a.pem"]], [], True, True)),
    (LoadedCertificate(["/ssl/a.pem"], is_used=True), [], [], ([["set ssl cert /ssl/a.pem"]], [], True, False)),
    (
        LoadedCertificate(directories=["/ssl"]),
        [LINE],
        [LINE],
        ([["new ssl cert /ssl/a.pem", "add ssl crt-list /ssl /ssl/a.pem"]], [], True, True),
    ),
    (LoadedCertificate(), [LINE], [LINE], ([], ["HAProxy has not loaded a.pem, though its configuration refers to it"], True, True)),
    (LoadedCertificate(), [], [LINE], ([], [], False, True)),
    (
        LoadedCertificate(["/ssl/a.pem"], True, [], False, "a.pem.ocsp"),
        [],
        [],
        ([], ["HAProxy reads a.pem.ocsp only when it starts"], True, False),
    ),
    (LoadedCertificate(["/ssl/a.pem"], True, [], True), [LINE], [LINE], ([], ["HAProxy also uses a.pem to verify others"], True, True)),
]


@pytest.mark.parametrize(("loaded", "used", "wanted", "expected"), CERTIFICATES)
def test_certificates(
    loaded: LoadedCertificate, used: list[FileReference], wanted: list[FileReference], expected: tuple[object, ...]
) -> None:
    plan = file_plan(certificate_way(PATH, loaded), used, wanted)
    assert ([step.texts for step in plan.steps], [each.why for each in plan.reasons], plan.used, plan.awaited) == expected


def test_a_file_that_is_loaded_though_no_line_refers_to_it() -> None:
    plan = file_plan(RuntimeWay(obstacle="why", is_loaded=True), [], [])
    assert ([each.why for each in plan.reasons], plan.used) == (["why"], True)


def test_lines_of_other_files() -> None:
    plan = file_plan(RuntimeWay(obstacle="why", further_lines=[LINE]), [], [])
    assert ([each.line for each in plan.reasons], plan.used, plan.awaited) == ([3], True, False)
