"""From what runs to steps or reasons."""

from pathlib import Path

import pytest

from haproxy_native.editing.file_references import Reference
from haproxy_native.planning.outcome import FilePlan
from haproxy_native.storage.plans import InProcess, by_reload, certificate_plan, crt_list_plan
from haproxy_native.storage.tls_steps import CrtListStep

LINE = Reference("frontend f", 3, "errorfile", "errorfile 503 x")


def test_a_reload_where_the_running_configuration_refers_to_it() -> None:
    plan = by_reload([LINE], [LINE], "why")
    assert (plan.used, plan.awaited) == (True, True)
    assert [(each.section, each.line, each.keyword, each.why) for each in plan.reasons] == [("frontend f", 3, "errorfile", "why")]


def test_nothing_where_nobody_does() -> None:
    plan = by_reload([], [LINE], "why")
    assert (plan.used, plan.awaited, plan.reasons) == (False, True, [])


PATH = Path("/ssl/a.pem")
CERTIFICATES = [
    (InProcess(), [], [], ([], [], False, False)),
    (InProcess(["/ssl/a.pem"]), [], [], ([], [], False, False)),
    (InProcess(["/ssl/a.pem"], used=True), [LINE], [LINE], ([(["/ssl/a.pem"], [])], [], True, True)),
    (InProcess(["/ssl/a.pem"], used=True), [], [], ([(["/ssl/a.pem"], [])], [], True, False)),
    (InProcess(directories=["/ssl"]), [LINE], [LINE], ([([], ["/ssl"])], [], True, True)),
    (InProcess(), [LINE], [LINE], ([], ["HAProxy has not loaded a.pem, though its configuration refers to it"], True, True)),
    (InProcess(), [], [LINE], ([], [], False, True)),
    (InProcess(["/ssl/a.pem"], True, [], False, "a.pem.ocsp"), [], [], ([], ["HAProxy reads a.pem.ocsp at its start only"], True, False)),
    (InProcess(["/ssl/a.pem"], True, [], True), [LINE], [LINE], ([], ["HAProxy verifies others with a.pem too"], True, True)),
]


@pytest.mark.parametrize(("loaded", "used", "wanted", "expected"), CERTIFICATES)
def test_certificates(loaded: InProcess, used: list[Reference], wanted: list[Reference], expected: tuple[object, ...]) -> None:
    plan = certificate_plan(PATH, loaded, used, wanted)
    steps = [(list(step.names), list(step.directories)) for step in plan.steps]
    assert (steps, [each.why for each in plan.reasons], plan.used, plan.awaited) == expected


def test_lists() -> None:
    step = CrtListStep(PATH, "/ssl/l.txt", "")
    assert crt_list_plan([step], "", [LINE], [LINE]) == FilePlan([step], (), True, True)
    assert [each.why for each in crt_list_plan([step], "why", [], []).reasons] == ["why"]
    assert [each.why for each in crt_list_plan([], "", [LINE], []).reasons] == [
        "HAProxy has not loaded the list, though its configuration refers to it"
    ]
    assert not crt_list_plan([], "why", [], []).used
