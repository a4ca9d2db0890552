"""`ctl fleet`: show and compare the nodes of a fleet, release a configuration to it, and pause, resume or stop the release."""

import argparse
import base64
import os
import re
import sys
import time
from typing import Any

from dataplaneapi.ctl import output
from dataplaneapi.ctl.client import JSON, quote_name
from dataplaneapi.ctl.commands.watch import draw, screen
from dataplaneapi.ctl.failures import FAILED, OK, PENDING, Failure
from dataplaneapi.ctl.objects import SIDECAR
from dataplaneapi.ctl.output import Progress
from dataplaneapi.ctl.session import Session, add_message_argument, duration, guard

FLEET = f"{SIDECAR}/fleet"
# The pause between two polls of a release, in seconds.
PAUSE = 0.5
# The time between two updates of a watched status, in seconds.
WATCH_SECONDS = 1.0
RELEASE_COLUMNS = ("number", "made", "author", "reverts", "message")
SECRET_BYTES = 32
ACTIONS = (
    "status",
    "diff",
    "release",
    "releases",
    "pause",
    "resume",
    "stop",
    "policy",
    "init",
    "adopt",
    "hold",
    "follow",
    "forget",
    "key",
)
POLICY = ("stages", "guard", "bake", "deadline")
# The actions whose subject is a release, and those whose subject is a node. The subject of `diff` is either.
OF_RELEASE, OF_NODE = ("release", "pause", "resume", "stop", "diff"), ("hold", "follow", "forget", "diff")


def fleet_arguments(parser: argparse.ArgumentParser) -> None:
    text = (
        "show nodes and release (status, the default), show how a node or a release differs (diff), release this server's "
        "configuration, list releases, pause, resume or stop one, show or set the defaults for releases (policy), begin a group (init), "
        "join it (adopt), keep this server's node out of releases (hold) and take it back (follow), delete the report of a node that is "
        "gone (forget), or print a new key"
    )
    parser.add_argument("action", nargs="?", choices=ACTIONS, default="status", help=text)
    text = "number of the release, or 15..18 for diff; name of the node; for policy, values such as stages=1,100%% bake=5m"
    parser.add_argument("subject", nargs="*", help=text)
    parser.add_argument(
        "--from",
        dest="side",
        choices=("store", "node"),
        default="store",
        help="what adopt follows: the release in the store (default), or the configuration of this node",
    )
    parser.add_argument(
        "--stages", metavar="STAGES", help="how many nodes have the release after each stage, as in 1,25%%,100%% (default: policy)"
    )
    text = "guard of each node, as in errors=2,ready,min_requests=50, or '' for none (default: policy)"
    parser.add_argument("--guard", type=lambda text: guard(text) if text else {}, metavar="GUARD", help=text)
    parser.add_argument("--bake", metavar="TIME", help="watch each node this long (default: policy)")
    parser.add_argument("--deadline", metavar="TIME", help="roll the release back if a stage lasts longer, beyond --bake (default: policy)")
    parser.add_argument("--force", action="store_true", help="overwrite edits by hand")
    parser.add_argument("--dry-run", action="store_true", help="have all nodes check the release, and change none")
    text = "wait until all nodes have the release, or it was rolled back; without a time, as long as that takes"
    parser.add_argument("--wait", nargs="?", type=duration, const=float("inf"), metavar="TIME", help=text)
    parser.add_argument("-w", "--watch", action="store_true", help="update the status every second until Ctrl-C, on a terminal")
    add_message_argument(parser)


def run_fleet(session: Session) -> int:
    given = session.given
    if given.watch and given.action != "status":
        raise Failure("--watch updates the status; it has no meaning for other actions")
    match given.action:
        case "status" if given.watch and output.is_terminal(sys.stdout) and session.format == "table":
            _watch(session)
        case "status":
            session.show(session.client.get(FLEET), lambda fleet: fleet_text(fleet, colours=session.colours))
        case "releases":
            releases = session.client.get(f"{FLEET}/releases")
            session.show(releases, lambda rows: output.table_of_members(RELEASE_COLUMNS, rows, colours=session.colours))
        case "diff":
            _show_difference(session, _required_subject(session, "number of a release, as in 18 or 15..18, or name of a node"))
        case "release":
            return _release(session)
        case "init":
            session.show(session.client.request("POST", f"{FLEET}/init").json(), release_line)
        case "adopt":
            session.show(session.client.request("POST", f"{FLEET}/adopt", None, {"from": given.side}).json(), release_line)
        case "hold" | "follow" as action:
            node = quote_name(_required_subject(session, "name of the node"))
            answer = session.client.request("POST", f"{FLEET}/nodes/{node}/{action}", None, None, JSON, **session.message_header())
            session.show(answer.json(), node_line)
        case "policy":
            session.show_one(_policy(session))
        case "forget":
            session.client.request("DELETE", f"{FLEET}/nodes/{quote_name(_required_subject(session, 'name of a node'))}")
        case "key":
            session.write(f"{base64.b64encode(os.urandom(SECRET_BYTES)).decode()}\n")
        case action:
            number = quote_name(_required_subject(session, "number of a release"))
            session.show(session.client.request("POST", f"{FLEET}/releases/{number}/{action}").json(), release_line)
    return OK


def _watch(session: Session) -> None:
    """Show the status of the fleet on a screen of its own until Ctrl-C. Raises Failure if the first call fails."""
    status = fleet_text(session.client.get(FLEET), colours=session.colours)
    with screen():
        while True:
            draw(status)
            time.sleep(WATCH_SECONDS)
            try:
                status = fleet_text(session.client.get(FLEET), colours=session.colours)
            except Failure as failure:
                status = f"{failure}; trying again\n"


def _show_difference(session: Session, subject: str) -> None:
    """Show how a node differs from the current release, or a release from an earlier one. A subject of digits is a release."""
    if numbers := re.fullmatch(r"(?:(\d+)\.\.)?(\d+)", subject):
        found = session.client.get(f"{FLEET}/releases/{numbers[2]}/diff", {"from": numbers[1]})
    else:
        found = session.client.get(f"{FLEET}/nodes/{quote_name(subject)}", {"diff": "true"})["difference"]
    lines = [f"{file['change']}: {file['store']}/{file['name']}" for file in found["files"]] + found["diff"].splitlines()
    session.show(found, lambda _: output.difference_text(lines, colours=session.colours))
    if not lines:
        session.note(f"no difference from release {found['from']}")
    if found["truncated"]:
        session.note("the difference is longer, and was cut")


def _required_subject(session: Session, what: str) -> str:
    if len(session.given.subject) != 1:
        raise Failure(f"{session.given.action} needs one argument, the {what}")
    return str(session.given.subject[0])


def _policy(session: Session) -> Any:
    """Return the defaults of the group, after setting those that are given. An empty value restores the built-in default."""
    policy = session.client.get(f"{FLEET}/policy")
    if not session.given.subject:
        return policy
    for word in session.given.subject:
        name, equals, value = word.partition("=")
        if not equals or name not in POLICY:
            raise Failure(f"{word} is not a default for releases; expected {', '.join(f'{each}=' for each in POLICY)}")
        if not value:
            policy.pop(name, None)
            continue
        try:
            policy[name] = value.split(",") if name == "stages" else guard(value) if name == "guard" else value
        except argparse.ArgumentTypeError as error:
            raise Failure(f"guard: {error}") from None
    return session.client.request("PUT", f"{FLEET}/policy", None, policy).json()


def _release(session: Session) -> int:
    given = session.given
    body: dict[str, Any] = {"message": given.message, "guard": given.guard, "bake": given.bake, "deadline": given.deadline}
    body |= {"stages": given.stages and given.stages.split(","), "force": given.force or None, "dry_run": given.dry_run or None}
    if given.subject:
        if not (subject := _required_subject(session, "number of a release")).isdigit():
            raise Failure(f"{subject} is not the number of a release")
        body["release"] = int(subject)
    body = {name: value for name, value in body.items() if value is not None}
    release = session.client.request("POST", f"{FLEET}/releases", None, body).json()
    for name in release.get("left_out", ()):
        session.note(f"{name} is absent or holds, so the release does not include it")
    status = OK if given.wait is None else _await_release(session, release["number"], given.wait)
    session.show(session.client.get(FLEET), lambda fleet: fleet_text(fleet, colours=session.colours))
    return status


def _await_release(session: Session, number: int, seconds: float) -> int:
    """Block until a release is done or rolled back, at most `seconds`. Return the exit status."""
    deadline = time.monotonic() + seconds
    with Progress() as progress:
        while time.monotonic() < deadline:
            fleet = session.client.get(FLEET)
            release = fleet["release"]
            if release["number"] > number:
                why = release.get("reason", "another one has followed")
                session.note(f"release {number} was rolled back: {why}")
                return OK if why.startswith("dry run") else FAILED
            if release["state"] == "done":
                return OK
            good = sum(node["phase"] == "good" for node in fleet["nodes"])
            progress.show(f"release {number} is {release['state']}, at stage {release['gate']} of {len(release['stages'])}: {good} good")
            time.sleep(PAUSE)
    session.note(f"release {number} is not done in time")
    return PENDING


def release_line(release: dict[str, Any]) -> str:
    return f"release {release['number']} is {release['state']}\n"


def node_line(node: dict[str, Any]) -> str:
    return f"{node['name']} is {node['phase']}{': ' if node.get('reason') else ''}{node.get('reason', '')}\n"


def fleet_text(fleet: dict[str, Any], *, colours: bool) -> str:
    """Return the status of a fleet: its release, an error of the store, and a table of the nodes."""
    lines = []
    if release := fleet.get("release"):
        stage = "" if release["state"] == "done" else f", at stage {release['gate']} of {len(release['stages'])}"
        by = f" by {release['author']}" if release.get("author") else ""
        lines.append(f"group {fleet['group']}: release {release['number']}{by} is {release['state']}{stage}")
        if why := release.get("reason"):
            lines.append(f"the release before it was rolled back: {why}")
    else:
        lines.append(f"group {fleet['group']} has no release yet; dataplaneapi ctl fleet init makes the first one")
    if error := fleet["store"].get("error"):
        lines.append(error if fleet["store"]["up"] else f"the store does not answer: {error}")
    columns = ("name", "release", "phase", "present", "reason")
    rows = [[node["name"], node.get("number"), node["phase"], node.get("present"), node.get("reason")] for node in fleet["nodes"]]
    return "\n".join(lines) + "\n" + output.table(columns, rows, colours=colours)
