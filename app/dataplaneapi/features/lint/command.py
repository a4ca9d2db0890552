"""The command `dataplaneapi lint`: lint configuration files without a server or HAProxy. docs/lint.md lists its exit statuses."""

import argparse
import os
import posixpath
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from haproxy_native.features.lint.finding import JSON_FORM, SARIF_FORM, SEVERITIES, TEXT_FORM, Finding, encode_findings
from haproxy_native.features.lint.lint import ConfigurationOrigin, findings, gather_facts
from haproxy_native.features.lint.view import Facts
from haproxy_native.text.document import Document
from haproxy_native.text.parts import MAIN, join

CLEAN, FOUND, UNUSABLE = 0, 1, 2
STANDARD_INPUT = "-"
CLOSED_PIPE = 141


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="dataplaneapi lint",
        description="List probable mistakes in a configuration that HAProxy accepts.",
        epilog="Exit status: 0 without findings of the severity of --fail-on or worse, 1 with such findings, 2 if a file cannot be read.",
        allow_abbrev=False,
    )
    made.add_argument("file", nargs="+", help="files of one configuration in order, directories with *.cfg, or - for standard input")
    made.add_argument("--format", choices=(TEXT_FORM, JSON_FORM, SARIF_FORM), default=TEXT_FORM, help="output format (default text)")
    made.add_argument(
        "--fail-on",
        choices=(*reversed(SEVERITIES), "never"),
        default="warning",
        help="lowest severity that fails the check (default warning)",
    )
    made.add_argument(
        "--files", action="store_true", help="also check files that the configuration names: missing files, certificates, keys"
    )
    return made


def main(argv: Sequence[str]) -> NoReturn:
    """Run the command and exit with its status."""
    try:
        status = run(argv)
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        if isinstance(error, BrokenPipeError):
            # Discard the buffered output, which Python would try to write again when it exits.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(CLOSED_PIPE)
        print(f"dataplaneapi lint: {error}", file=sys.stderr)
        status = UNUSABLE
    sys.exit(status)


def run(argv: Sequence[str]) -> int:
    """Run the command and return its exit status. Raises OSError and ValueError for files that cannot be read."""
    given = parser().parse_args(argv)
    paths: list[str] = []
    for name in given.file:
        is_directory = name != STANDARD_INPUT and os.path.isdir(name)
        paths += map(str, sorted(Path(name).glob("*.cfg"))) if is_directory else [name]
    if not paths:
        raise ValueError(f"there is no *.cfg in {', '.join(given.file)}")
    findings = checked(paths, files=given.files)
    sys.stdout.buffer.write(encode_findings(findings, given.format))
    if given.fail_on == "never":
        return CLEAN
    least = SEVERITIES.index(given.fail_on)
    return FOUND if any(SEVERITIES.index(finding.severity) >= least for finding in findings) else CLEAN


def checked(paths: Sequence[str], *, files: bool = False) -> list[Finding]:
    """Return the findings for a configuration that consists of the files `paths`. Raises OSError and ValueError.

    `files`: whether to read the files that the configuration names as well.
    """
    texts = {path: sys.stdin.buffer.read() if path == STANDARD_INPUT else Path(path).read_bytes() for path in paths}
    main, *others = texts
    document = Document.parse(join([(MAIN, texts[main]), *((path, texts[path]) for path in others)]))
    directory = posixpath.dirname(os.path.abspath(main))
    return findings(document, gather_facts(document, directory) if files else Facts(directory), ConfigurationOrigin(main))
