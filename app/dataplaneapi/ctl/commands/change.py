"""`ctl ready`, `maint`, `weight`, `set`, `delete`, `map`, `cert`, `raw` and `reload`: small changes, each in one line.

What changes the configuration is one call of a batch: it needs no version, and `--dry-run` shows its plan. What `ready` and `maint` set in
the process outlives reloads, as an override.
"""

import argparse
import json
import os
from typing import Any

from dataplaneapi.ctl import files, output
from dataplaneapi.ctl.client import JSON, TEXT
from dataplaneapi.ctl.client import name as quoted
from dataplaneapi.ctl.failures import OK, REFUSED, Failure
from dataplaneapi.ctl.kinds import AT_RUNTIME, OTHERS
from dataplaneapi.ctl.objects import CONFIGURATION, SIDECAR, Object, parsed
from dataplaneapi.ctl.session import RELOAD_SECONDS, Session, add_message_argument, add_write_arguments

MERGE_PATCH = "application/merge-patch+json"
RAW = f"{CONFIGURATION}/raw"


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="show what would be done, and change nothing")
    add_write_arguments(parser)


def ready_arguments(parser: argparse.ArgumentParser) -> None:
    _server_argument(parser)
    add_message_argument(parser)
    parser.epilog = "example: dataplaneapi ctl ready shop/web1"


def maint_arguments(parser: argparse.ArgumentParser) -> None:
    _server_argument(parser)
    add_message_argument(parser)
    parser.epilog = "example: dataplaneapi ctl maint shop/web1 -m 'new disk'; drain lets its sessions end before"


def _server_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("server", help="as in shop/web1 or backend/shop/server/web1")


def run_ready(session: Session) -> int:
    return _set_state(session, "ready")


def run_maint(session: Session) -> int:
    return _set_state(session, "maint")


def _set_state(session: Session, state: str) -> int:
    server = _server(session.given.server, runtime=True)
    found = session.client.ask("PUT", server.path, None, {"admin_state": state}, **session.message_header()).json()
    session.show(found, lambda row: f"{server}: {row['admin_state']}, {row['operational_state']}\n")
    return OK


def _server(text: str, *, runtime: bool = False) -> Object:
    """Return the server of `shop/web1` or `backend/shop/server/web1`. Raises Failure."""
    parts = text.split("/")
    server = parsed([f"backend/{parts[0]}/server/{parts[1]}" if len(parts) == 2 else text], runtime=runtime)
    if server.kind != "backend/server" or server.name is None:
        raise Failure(f"{text} is no server; one is shop/web1 or backend/shop/server/web1")
    return server


def weight_arguments(parser: argparse.ArgumentParser) -> None:
    _server_argument(parser)
    parser.add_argument("weight", type=int, help="0 to 256; with 0 it gets no new sessions")
    _add_arguments(parser)
    parser.epilog = "example: dataplaneapi ctl weight shop/web1 20"


def run_weight(session: Session) -> int:
    return _patch(session, _server(session.given.server), {"weight": session.given.weight})


def set_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("object", help="as in backend/shop, frontend/site/bind/b")
    text = "as in weight=20, balance.algorithm=first, cookie.name='\"7\"' for a text of digits; no VALUE removes it"
    parser.add_argument("member", nargs="+", metavar="MEMBER=VALUE", help=text)
    _add_arguments(parser)
    parser.epilog = "example: dataplaneapi ctl set backend/shop balance.algorithm=leastconn fullconn="


def run_set(session: Session) -> int:
    asked = _one(session.given.object)
    present = session.client.get(asked.path, asked.query)
    patch: dict[str, Any] = {}
    for item in session.given.member:
        path, equals, text = item.partition("=")
        *above, last = path.split(".")
        if not equals or not last:
            raise Failure(f"{item!r} is no MEMBER=VALUE, as in weight=20")
        place, former = patch, present
        for name in above:
            place = place.setdefault(name, {})
            former = former.get(name) if isinstance(former, dict) else None
        place[last] = _value(text, former.get(last) if isinstance(former, dict) else None)
    return _patch(session, asked, patch)


def _value(text: str, former: Any) -> Any:
    """Return the value that a text stands for: JSON if it is that, unless the member has been a text; None if it is empty."""
    if not text:
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(former, str) and not isinstance(value, str) else value


def _one(text: str) -> Object:
    asked = parsed([text])
    if not asked.is_configured or not asked.is_one:
        raise Failure(f"{asked} is no object of the configuration; one is backend/shop or backend/shop/server/web1")
    return asked


def _patch(session: Session, asked: Object, patch: dict[str, Any]) -> int:
    return _write(session, {"method": "PATCH", "path": _with_query(asked), "body": patch, "content_type": MERGE_PATCH})


def _with_query(asked: Object) -> str:
    query = "&".join(f"{name}={quoted(value)}" for name, value in asked.query.items() if name != "full_section")
    return f"{asked.path}?{query}" if query else asked.path


def delete_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("object", help="as in backend/shop/server/web1, map/hosts.map")
    _add_arguments(parser)
    parser.epilog = "example: dataplaneapi ctl delete backend/shop/server/web1 --dry-run"


def run_delete(session: Session) -> int:
    asked = parsed([session.given.object])
    if asked.kind in STORED and asked.name is not None:
        return _write(session, {"method": "DELETE", "path": asked.path})
    return _write(session, {"method": "DELETE", "path": _with_query(_one(session.given.object))})


# Stored files, by the kind of object that each is.
STORED = ("acl_file", "certificate", "crt_list", "general", "map")


def cert_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("list", "put"), help="put creates or replaces it")
    parser.add_argument("file", nargs="?", help="PEM with certificate and private key; - for standard input")
    parser.add_argument("--name", help="of the stored file (default that of the file)")
    _add_arguments(parser)
    parser.epilog = "example: dataplaneapi ctl cert put shop.pem --wait"


def run_cert(session: Session) -> int:
    given, path = session.given, OTHERS["certificate"]
    if given.action == "list":
        session.show_list("certificate", session.client.get(path), "storage_name")
        return OK
    if not given.file or (given.file == "-" and not given.name):
        raise Failure("a file is required, and with - its --name")
    name = given.name or os.path.basename(given.file)
    content = (session.standard_input() if given.file == "-" else files.read(given.file)).decode("utf-8", "replace")
    known = [row["storage_name"] for row in session.client.get(path)]
    if name in known:
        return _write(session, {"method": "PUT", "path": f"{path}/{quoted(name)}", "body": content, "content_type": TEXT})
    return _write(session, {"method": "POST", "path": path, "body": content, "file": name})


def map_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("list", "show", "add", "del"), help="add replaces the value of a key that is there")
    parser.add_argument("map", nargs="?", help="its name, as in hosts.map")
    parser.add_argument("entry", nargs="*", metavar="KEY [VALUE]", help="key of the entry, and with add its value")
    add_write_arguments(parser)
    parser.epilog = "example: dataplaneapi ctl map add hosts.map shop.example shop"


def run_map(session: Session) -> int:
    """An entry changes in the running process and in the file at once."""
    given = session.given
    needed = {"list": 0, "show": 1, "add": 3, "del": 2}[given.action]
    if (given.map is not None) + len(given.entry) != needed:
        raise Failure(f"map {given.action} takes {('nothing', 'MAP', 'MAP KEY', 'MAP KEY VALUE')[needed]}")
    if given.action == "list":
        session.show_list("map", session.client.get(OTHERS["map"]), "storage_name")
        return OK
    entries = f"{AT_RUNTIME['map']}/{quoted(given.map)}/entries"
    if given.action == "show":
        session.show_list("entry", session.client.get(entries), "id")
        return OK
    query, headers = session.write_options()
    query |= {"force_sync": True}
    one = f"{entries}/{quoted(given.entry[0])}"
    if given.action == "del":
        return session.report_write(session.client.ask("DELETE", one, query, **headers))
    if session.client.answer("GET", one).status == 200:
        return session.report_write(session.client.ask("PUT", one, query, {"value": given.entry[1]}, **headers))
    return session.report_write(
        session.client.ask("POST", entries, query, dict(zip(("key", "value"), given.entry, strict=True)), **headers)
    )


def _write(session: Session, call: dict[str, Any]) -> int:
    """Make a call as a batch of one, or show its plan, and report it."""
    query, headers = session.write_options()
    dry_run = {"dry_run": True} if session.given.dry_run else {}
    answer = session.client.ask("POST", f"{SIDECAR}/batch", query | dry_run, [call], JSON, **headers)
    if session.given.dry_run:
        session.show(answer.json(), lambda found: described(found, colours=session.colours))
        return OK
    session.show(answer.json(), _made)
    return session.report_write(answer)


def _made(found: dict[str, Any]) -> str:
    return f"version {found['version']}: {'in effect after a reload' if found['reload'] else 'live'}\n"


def described(found: dict[str, Any], *, colours: bool = False) -> str:
    """Return the lines of a plan."""
    shades = {"+": output.GREEN, "-": output.RED}
    lines = [output.coloured(line, shades.get(line[:1], ""), colours=colours) for line in found.get("diff", "").splitlines()]
    lines += [f"live: {command}" for command in found.get("commands", ())]
    lines += [f"reload: {reason['reason']}" for reason in found.get("reasons", ())] if found.get("reload") else []
    lines += [f"haproxy: {each['text']}" for each in found.get("messages", ()) if each["severity"] != "notice"]
    return "".join(f"{line}\n" for line in lines or ["nothing would change"])


def raw_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("get", "put"), help="the whole haproxy.cfg")
    parser.add_argument("file", nargs="?", help="with put: the new text; - for standard input")
    parser.add_argument("--version", type=int, metavar="N", help="with put: the version that the text was made from, as get says it")
    parser.add_argument("--force", action="store_true", help="with put: replace whatever is there now")
    _add_arguments(parser)
    parser.epilog = "example: dataplaneapi ctl raw get > new.cfg; edit it; dataplaneapi ctl raw put new.cfg --version 8"


def run_raw(session: Session) -> int:
    given = session.given
    if given.action == "get":
        answer = session.client.ask("GET", RAW)
        session.write(answer.body.decode("utf-8", "replace"))
        session.note(f"version {answer.headers.get('configuration-version', '')}")
        return OK
    if not given.file:
        raise Failure("a file is required")
    text = session.standard_input() if given.file == "-" else files.read(given.file)
    if given.dry_run:
        plan = session.client.ask("POST", f"{SIDECAR}/plan", None, text, TEXT).json()
        session.show(plan, lambda found: described(found, colours=session.colours))
        return OK if plan.get("valid", True) else REFUSED
    if given.version is None and not given.force:
        raise Failure("--version N says which version the text was made from, or --force replaces whatever is there")
    query, headers = session.write_options()
    query |= {"skip_version": True} if given.force else {"version": given.version}
    return session.report_write(session.client.ask("POST", RAW, query, text, TEXT, **headers))


def reload_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-wait", action="store_true", help="do not wait for its end")
    add_message_argument(parser)
    parser.epilog = "example: dataplaneapi ctl reload"


def run_reload(session: Session) -> int:
    operation = session.client.ask("POST", f"{SIDECAR}/reloads", None, None, JSON, **session.message_header()).json()
    session.show_one(operation if session.given.no_wait else session.await_operation(operation["id"], RELOAD_SECONDS))
    return OK
