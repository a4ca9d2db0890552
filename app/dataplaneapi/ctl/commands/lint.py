"""`ctl lint`: what in the configuration of a server is probably a mistake."""

import argparse

from dataplaneapi.ctl.failures import DIFFERS, OK
from dataplaneapi.ctl.objects import SIDECAR
from dataplaneapi.ctl.session import Session

SEVERITIES = ("note", "warning", "error")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--transaction", metavar="ID", help="of the configuration as it stands in a transaction")
    parser.add_argument("--sarif", action="store_true", help="as SARIF 2.1.0")
    parser.add_argument(
        "--fail-on", choices=SEVERITIES, help=f"end with status {DIFFERS} where something of this severity, or worse, is found"
    )


def run(session: Session) -> int:
    given = session.given
    query = {"transaction_id": given.transaction} if given.transaction else {}
    report = session.client.get(f"{SIDECAR}/lint", query)
    if given.sarif:
        session.write(session.client.ask("GET", f"{SIDECAR}/lint", query | {"format": "sarif"}).body.decode())
    else:
        session.show(report, _lines)
    least = SEVERITIES.index(given.fail_on) if given.fail_on else len(SEVERITIES)
    return DIFFERS if any(SEVERITIES.index(finding["severity"]) >= least for finding in report) else OK


def _lines(found: list[dict[str, str]]) -> str:
    return "".join(
        f"{row['file']}:{row['line']}: {row['severity']}: {row['what']} [{row['id']}]\n    {row['text']}\n    {row['mend']}\n"
        for row in found
    )
