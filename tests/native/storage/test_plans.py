"""From what runs to steps or reasons."""

from native.config.file_references import Reference
from native.storage.plans import by_reload

LINE = Reference("frontend f", 3, "errorfile", "errorfile 503 x")


def test_a_reload_where_the_running_configuration_refers_to_it() -> None:
    plan = by_reload([LINE], [LINE], "why")
    assert (plan.used, plan.awaited) == (True, True)
    assert [(each.section, each.line, each.keyword, each.why) for each in plan.reasons] == [("frontend f", 3, "errorfile", "why")]


def test_nothing_where_nobody_does() -> None:
    plan = by_reload([], [LINE], "why")
    assert (plan.used, plan.awaited, plan.reasons) == (False, True, [])
