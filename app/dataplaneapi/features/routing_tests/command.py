"""The command `dataplaneapi test`: run routing tests on a configuration without a server, as in a CI system."""

import argparse
import asyncio
import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from dataplaneapi.ctl.commands import routing

if TYPE_CHECKING:
    from haproxy_native.features.routing_tests.run import Case, Run
    from haproxy_native.text.document import Document

# The exit statuses: all cases have passed; some have failed, or too few rules are reached; a file or option cannot be used; HAProxy refuses
# the configuration.
OK, FAILED, UNUSABLE, NO_ANSWER = range(4)
CONFIG = "/etc/haproxy/haproxy.cfg"
YAML_ENDINGS = (".yaml", ".yml")


class UnusableInput(Exception):
    """Raised if a file or an option cannot be used. The command then exits with the status UNUSABLE."""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="dataplaneapi test", description="Run routing tests on a configuration, without a server.")
    made.add_argument("files", nargs="+", metavar="FILE", help="YAML or JSON with cases")
    made.add_argument("--config", metavar="FILE", default=CONFIG, help=f"the configuration (default {CONFIG})")
    made.add_argument("--haproxy", metavar="BIN", default="haproxy", help="the HAProxy to run (default haproxy)")
    made.add_argument("--junit", metavar="FILE", help="write the result as JUnit XML")
    made.add_argument("--json", dest="as_json", action="store_true", help="print the result as the API shows it")
    made.add_argument("--coverage", action="store_true", help="list the rules that no case reaches")
    made.add_argument("--fail-under", type=float, metavar="N", help="fail if less than N %% of the rules are reached")
    made.epilog = (
        f"Exit status: {OK} if all cases have passed, {FAILED} if some have failed or too few rules are reached, {UNUSABLE} if a file "
        f"cannot be used, {NO_ANSWER} if HAProxy refuses the configuration."
    )
    return made


def main(argv: Sequence[str]) -> NoReturn:
    """Run the command and exit with its status."""
    given = parser().parse_args(argv)
    try:
        sys.exit(_run_tests(given))
    except UnusableInput as error:
        print(f"dataplaneapi test: {error}", file=sys.stderr)
        sys.exit(UNUSABLE)


def _run_tests(given: argparse.Namespace) -> int:
    """Run the tests, print the result, and return the exit status. Raises UnusableInput."""
    from haproxy_native.errors import NativeError, NoShadow
    from haproxy_native.features.routing_tests.run import cases_of, junit
    from haproxy_native.text.document import Document

    if shutil.which(given.haproxy) is None:
        raise UnusableInput(f"{given.haproxy} is not an executable program; name HAProxy's binary with --haproxy")
    try:
        config = Path(os.path.abspath(given.config))
        cases = [case for name in given.files for case in cases_of(_read_cases(Path(name)), Path(name).stem)]
        run = asyncio.run(_run_cases(Document.parse(config.read_bytes()), cases, given.haproxy, config))
    except NoShadow as error:
        print(f"dataplaneapi test: {given.config}: {error}", file=sys.stderr)
        return NO_ANSWER
    except NativeError as error:
        raise UnusableInput(str(error)) from None
    except OSError as error:
        raise UnusableInput(f"{error.filename or given.config}: {error.strerror}") from None
    if given.junit:
        try:
            Path(given.junit).write_bytes(junit(run))
        except OSError as error:
            raise UnusableInput(f"{Path(given.junit)}: {error.strerror}") from None
    shown = run.as_dict()
    print(json.dumps(shown, indent=2) if given.as_json else routing.run_text(shown, with_coverage=given.coverage).rstrip("\n"))
    return OK if routing.has_passed(shown, given.fail_under) else FAILED


async def _run_cases(document: "Document", cases: "Sequence[Case]", binary: str, config: Path) -> "Run":
    from haproxy_native.features.routing_tests.run import run
    from haproxy_native.shadow.shadows import Shadows
    from haproxy_native.shares import Account

    shadows = Shadows(binary, config.parent, lambda: [config])
    try:
        async with shadows.client(document, b"", caller=Account()) as shadow_client:
            return await run(document, shadow_client, cases)
    finally:
        await shadows.close()


def _read_cases(path: Path) -> list[dict[str, object]]:
    """Return the cases in a file, validated as the API validates them. Raises UnusableInput."""
    from dataplaneapi.api.call import decoded_strictly
    from dataplaneapi.api.errors import ApiError
    from dataplaneapi.api.normalize import ResolvedSchemas
    from haproxy_native.grammar.load import bundle

    try:
        document = bundle()
        schemas = ResolvedSchemas(document["components"]["schemas"], document["x-longest-text"])
        schema = {"$ref": "#/components/schemas/routing_test"}
        rows: list[dict[str, object]] = decoded_strictly(path.read_bytes(), schema, schemas, is_yaml=path.suffix in YAML_ENDINGS)["cases"]
        return rows
    except ApiError as error:
        raise UnusableInput(f"{path}: {error.message}") from None
