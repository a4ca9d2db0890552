"""A run as JUnit has it: XML that CI systems read. Pure."""

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from haproxy_native.editing.secrets import masked_object
from haproxy_native.features.routing_tests.run import Result, Run

_NO_WORDS = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(run: Run, *, with_secrets: bool = True) -> bytes:
    """A suite for each test."""
    root = Element("testsuites", tests=str(len(run.results)), failures=str(len(run.failed)), time=f"{run.seconds:.3f}")
    for name, group in groupby(run.results, key=lambda result: result.case.test):
        results = [*group]
        failures, seconds = sum(not result.passed for result in results), sum(result.seconds for result in results)
        suite = SubElement(
            root, "testsuite", name=_clean(name or "routing"), tests=str(len(results)), failures=str(failures), time=f"{seconds:.3f}"
        )
        for result in results:
            _add(suite, result, with_secrets=with_secrets)
    indent(root)
    data: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def _add(suite: Element, result: Result, *, with_secrets: bool) -> None:
    case = SubElement(
        suite, "testcase", classname=_clean(result.case.test or "routing"), name=_clean(result.case.name), time=f"{result.seconds:.4f}"
    )
    if not result.passed:
        shown = result.as_dict() if with_secrets else masked_object(result.as_dict(), "routing_result")
        SubElement(case, "failure", message=_clean(shown["reason"])).text = _clean("\n".join(_lines(shown)))


def _lines(shown: Mapping[str, Any]) -> Iterator[str]:
    yield shown["reason"]
    for rule in shown.get("rules", ()):
        yield "{}{}: {}".format(f"{rule['file']}:" if rule.get("file") else "line ", rule["line"], rule["text"])


def _clean(text: str) -> str:
    """Returns the text without characters that XML does not allow."""
    return _NO_WORDS.sub("?", text)
