"""The declaration of the checks."""

import re

from haproxy_native.features.lint.finding import SEVERITIES, checks
from haproxy_native.features.lint.lint import function_of
from haproxy_native.features.lint.view import words


def test_every_check_is_declared_whole() -> None:
    for id_, check in checks().items():
        assert re.fullmatch(r"[a-z-]+", id_) and check.severity in SEVERITIES and callable(function_of(check))
        assert all((check.title, check.reason, check.mend, check.manual)) and check.reason.endswith(".") and check.mend.endswith(".")


def test_every_pattern_is_one() -> None:
    for text in (words()["local"], words()["private"], words()["volatile"], words()["files"]["maps"], words()["names"]["lookup"]):
        re.compile(text)
