"""Let a test fail that is skipped for a reason that is not in skips.toml. A plugin of pytest."""

import tomllib
from collections.abc import Generator
from pathlib import Path

import pytest

LIST = tomllib.loads(Path(__file__).with_name("skips.toml").read_text())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if not reason.startswith(tuple(LIST["may_be_missing"])):
            report.outcome = "failed"
            report.longrepr = f"skipped for a reason that tests/rules/skips.toml does not list: {reason}"
    return report
