"""`ctl ready`, `maint`, `weight`, `create`, `set`, `delete`, `map`, `cert`, `raw` and `reload`: small changes, each by one command.

A change of the configuration is sent as a batch of one call. Such a batch needs no version, and `--dry-run` can plan it. `ready` and
`maint` change a server in the running process, as an override that survives reloads. Their `--dry-run` compares the new state of the server
with the present state, and asks whether the caller may set the new state.
"""

import argparse
import os
import re
from typing import Any

from dataplaneapi.ctl import files
from dataplaneapi.ctl.client import JSON, TEXT, query_text, quote_name
from dataplaneapi.ctl.failures import CONFLICT, OK, REFUSED, Failure, RefusedCall
from dataplaneapi.ctl.kinds import AT_RUNTIME, OTHERS, SINGLE
from dataplaneapi.ctl.objects import CONFIGURATION, SIDECAR, Object, parse_object
from dataplaneapi.ctl.schemas import Members
from dataplaneapi.ctl.session import RELOAD_SECONDS, Session, add_dry_run_argument, add_message_argument, add_write_arguments, duration

MERGE_PATCH = "application/merge-patch+json"
RAW = f"{CONFIGURATION}/raw"
# The version in the header lines that the server writes above a configuration, and `raw get` above one that the server has not written yet.
VERSION = re.compile(rb"^# _version=(\d+)$", re.MULTILINE)


def ready_arguments(parser: argparse.ArgumentParser) -> None:
    _server_argument(parser)
    add_dry_run_argument(parser)
    add_message_argument(parser)


def maint_arguments(parser: argparse.ArgumentParser) -> None:
    ready_arguments(parser)


def _server_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("server", help="as in shop/web1 or backend/shop/server/web1")


def run_ready(session: Session) -> int:
    return _set_state(session, "ready")


def run_maint(session: Session) -> int:
    return _set_state(session, "maint")


def _set_state(session: Session, state: str) -> int:
    server, body = _parse_server(session.given.server, runtime=True), {"admin_state": state}
    if session.given.dry_run:
        before = session.client.get(server.path).get("admin_state")
        question = {"method": "PUT", "path": server.path, "body": body}
        verdict = session.client.request("POST", f"{SIDECAR}/access/check", None, question, JSON).json()
        if not verdict["allowed"]:
            code = verdict.get("code", 403)
            raise RefusedCall(code, verdict, f"{code} {verdict.get('reason', 'not allowed')} (PUT {server.path})")
        commands = [] if before == state else [f"set server {server.parent}/{server.name} state {state}"]
        return session.show_plan({"commands": commands, "reload": False})
    answer = session.client.request("PUT", server.path, None, body, **session.message_header())
    return session.report_write(answer, lambda row: f"{server}: {row.get('admin_state', '-')}, {row.get('operational_state', '-')}\n")


def _parse_server(text: str, *, runtime: bool = False) -> Object:
    """Parse the name of a server, `shop/web1` or `backend/shop/server/web1`. Raises Failure."""
    parts = text.split("/")
    names = ["backend", parts[0], "server", parts[1]] if len(parts) == 2 else parts
    server = parse_object(["/".join(names)], runtime=runtime) if len(names) == 4 else None
    if server is None or server.kind not in ("backend/server", "listen/server"):
        raise Failure(f"{text} is not a server; write shop/web1 or backend/shop/server/web1")
    return server


def weight_arguments(parser: argparse.ArgumentParser) -> None:
    _server_argument(parser)
    parser.add_argument("weight", type=int, help="0 to 256; with 0 it gets no new sessions")
    add_write_arguments(parser, dry_run=True)


def run_weight(session: Session) -> int:
    return _patch(session, _parse_server(session.given.server), {"weight": session.given.weight})


def set_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("object", help="as in backend/shop, frontend/site/bind/b")
    text = "as in weight=20, balance.algorithm=first, server_timeout=30s; lists have commas; without a VALUE it is removed"
    parser.add_argument("member", nargs="+", metavar="MEMBER=VALUE", help=text)
    add_write_arguments(parser, dry_run=True)


def run_set(session: Session) -> int:
    target = _parse_configured(session.given.object)
    return _patch(session, target, _parse_members(session, target, session.given.member))


def _parse_members(session: Session, target: Object, items: list[str]) -> dict[str, Any]:
    """Convert arguments such as `weight=20` and `balance.algorithm=first` to a JSON object. Raises Failure."""
    members = Members(session.client, target)
    parsed_members: dict[str, Any] = {}
    for item in items:
        path, equals, text = item.partition("=")
        names = path.split(".")
        if not equals or not all(names):
            raise Failure(f"{item!r} is not MEMBER=VALUE, as in weight=20")
        holder = parsed_members
        for name in names[:-1]:
            holder = holder.setdefault(name, {})
            if not isinstance(holder, dict):
                raise Failure(f"{item!r} sets a member of {name}, which another argument sets as a whole")
        value = members.value(names, text)
        if isinstance(value, str) and (below := members.names(names)):
            paths = ", ".join(f"{path}.{name}".rstrip("=.") for name in below)
            raise Failure(f"{path} cannot be set to {text!r}, because it has members: {paths}")
        holder[names[-1]] = value
    return parsed_members


def create_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "dataplaneapi ctl create OBJECT [MEMBER=VALUE ...] [OPTION ...]"
    text = "as in backend/shop, backend/shop/server/web3; a rule without an index becomes the last one: backend/shop/http_request_rule"
    parser.add_argument("object", nargs="+", metavar="OBJECT", help=text)
    text = "as in address=192.0.2.7, balance.algorithm=first, server_timeout=30s; lists have commas"
    parser.add_argument("member", nargs="*", default=[], metavar="MEMBER=VALUE", help=text)
    add_write_arguments(parser, dry_run=True)


def run_create(session: Session) -> int:
    words = [*session.given.object, *session.given.member]
    count = next((index for index, word in enumerate(words) if "=" in word), len(words))
    if not count:
        raise Failure("an object is required before its members, as in backend/shop/server/web3 address=192.0.2.7")
    target = parse_object(words[:count])
    if not target.is_configured or (target.key and not target.is_one):
        raise Failure(f"{target} is not the name of an object of the configuration; write backend/shop or backend/shop/server/web1")
    if empty := [item for item in words[count:] if item.endswith("=")]:
        raise Failure(f"{empty[0]!r} has no value; omit the member")
    body = _parse_members(session, target, words[count:])
    collection = Object(target.kind, target.parent, None)
    if target.kind in SINGLE:
        if session.client.send("GET", target.path).is_success:
            raise Failure(f"{target} exists already; dataplaneapi ctl set {target} MEMBER=VALUE changes it", CONFLICT)
        return _post(session, target, body)
    if not target.key:
        index = len(session.client.get(collection.path, collection.query)) if target.name is None else target.name
        return _post(session, Object(target.kind, target.parent, str(index)), body)
    if body.setdefault(target.key, target.name) != target.name:
        raise Failure(f"{target.key}={body[target.key]} contradicts the name in {target}; omit it")
    return _post(session, collection, body)


def _post(session: Session, target: Object, body: dict[str, Any]) -> int:
    return session.plan_or_write({"method": "POST", "path": _path_with_query(target), "body": body}, strict=True)


def _parse_configured(text: str) -> Object:
    target = parse_object([text])
    if not target.is_configured or not target.is_one:
        raise Failure(f"{target} is not an object of the configuration; write backend/shop or backend/shop/server/web1")
    return target


def _patch(session: Session, target: Object, patch: dict[str, Any]) -> int:
    call = {"method": "PATCH", "path": _path_with_query(target), "body": patch, "content_type": MERGE_PATCH}
    return session.plan_or_write(call, strict=True)


def _path_with_query(target: Object) -> str:
    return target.path + query_text({name: value for name, value in target.query.items() if name != "full_section"})


def delete_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("object", help="as in backend/shop/server/web1, map/hosts.map")
    add_write_arguments(parser, dry_run=True)


def run_delete(session: Session) -> int:
    target = parse_object([session.given.object])
    if target.kind in STORED and target.name is not None:
        return session.plan_or_write({"method": "DELETE", "path": target.path})
    return session.plan_or_write({"method": "DELETE", "path": _path_with_query(_parse_configured(session.given.object))})


# The kinds of objects that are stored files.
STORED = ("acl_file", "certificate", "crt_list", "general", "map")


def cert_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("list", "put", "delete"), help="put creates or replaces it")
    parser.add_argument(
        "file", nargs="?", help="with put: PEM with certificate and private key, - for standard input; with delete: its name"
    )
    parser.add_argument("--name", help="name of the stored file (default: the name of the file)")
    add_write_arguments(parser, dry_run=True)


def run_cert(session: Session) -> int:
    given, path = session.given, OTHERS["certificate"]
    if given.action == "list":
        session.show_list("certificate", session.client.get(path), "storage_name")
        return OK
    if not given.file or (given.file == "-" and not given.name):
        raise Failure("a file is required; with -, --name is required as well")
    name = given.name or os.path.basename(given.file)
    if given.action == "delete":
        return session.plan_or_write({"method": "DELETE", "path": f"{path}/{quote_name(name)}"})
    content = (session.standard_input() if given.file == "-" else files.read(given.file)).decode("utf-8", "replace")
    known = [row["storage_name"] for row in session.client.get(path)]
    if name in known:
        return session.plan_or_write({"method": "PUT", "path": f"{path}/{quote_name(name)}", "body": content, "content_type": TEXT})
    return session.plan_or_write({"method": "POST", "path": path, "body": content, "file": name})


def map_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("list", "show", "add", "del"), help="add replaces the value of a key that is there")
    parser.add_argument("map", nargs="?", help="its name, as in hosts.map")
    parser.add_argument("entry", nargs="*", metavar="KEY [VALUE]", help="key of the entry, and with add its value")
    add_write_arguments(parser)


def run_map(session: Session) -> int:
    """Show maps, or change an entry of a map, both in the running process and in the file."""
    given = session.given
    needed = {"list": 0, "show": 1, "add": 3, "del": 2}[given.action]
    if (given.map is not None) + len(given.entry) != needed:
        raise Failure(f"map {given.action} takes {('nothing', 'MAP', 'MAP KEY', 'MAP KEY VALUE')[needed]}")
    if given.action == "list":
        session.show_list("map", session.client.get(OTHERS["map"]), "storage_name")
        return OK
    if session.client.send("GET", f"{AT_RUNTIME['map']}/{quote_name(given.map)}").status == 404:
        session.client.request("GET", f"{OTHERS['map']}/{quote_name(given.map)}")
        raise Failure(f"{given.map} is stored, but not loaded: nothing refers to it; get map/{given.map} shows the file", REFUSED)
    entries = f"{AT_RUNTIME['map']}/{quote_name(given.map)}/entries"
    if given.action == "show":
        session.show_list("entry", session.client.get(entries), "id")
        return OK
    query, headers = session.write_options()
    query |= {"force_sync": True}
    key, *rest = given.entry
    value, one = "".join(rest), f"{entries}/{quote_name(key)}"
    if given.action == "del":
        answer = session.client.request("DELETE", one, query, **headers)
    elif session.client.send("GET", one).status == 200:
        answer = session.client.request("PUT", one, query, {"value": value}, **headers)
    else:
        answer = session.client.request("POST", entries, query, {"key": key, "value": value}, **headers)
    session.show({"map": given.map, "key": key, "value": value or None}, lambda _: "")
    return session.report_write(answer)


def raw_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("get", "put"), help="get or put the whole haproxy.cfg")
    parser.add_argument("file", nargs="?", help="with put: the new text; - for standard input")
    parser.add_argument(
        "--version",
        type=int,
        metavar="N",
        help="with put: the version that the text was made from (default: the version in its first lines)",
    )
    parser.add_argument("--force", action="store_true", help="with put: replace whatever is there now")
    add_write_arguments(parser, dry_run=True)


def run_raw(session: Session) -> int:
    given = session.given
    if given.action == "get":
        # Queried before the text: if the configuration changes in between, the line has the former version, and `put` is refused.
        version = session.client.get(f"{CONFIGURATION}/version")
        content = session.client.request("GET", RAW).body
        text = ("" if VERSION.search(content) else f"# _version={version}\n") + content.decode("utf-8", "replace")
        session.show({"text": text}, lambda found: str(found["text"]))
        return OK
    if not given.file:
        raise Failure("a file is required")
    content = session.standard_input() if given.file == "-" else files.read(given.file)
    if given.dry_run:
        return session.show_plan(session.client.request("POST", f"{SIDECAR}/plan", None, content, TEXT).json())
    written = VERSION.search(content)
    version = session.client.get(f"{CONFIGURATION}/version") if given.force else given.version or (int(written[1]) if written else None)
    if version is None:
        lack = "the text has no line # _version=N, which `raw get` writes"
        raise Failure(f"{lack}: add --version N, the version it was made from, or --force to replace any version")
    query, headers = session.write_options()
    query |= {"version": version}
    answer = session.client.request("POST", RAW, query, content, TEXT, **headers)
    session.show({"version": int(answer.headers["configuration-version"]), "reload": answer.status == 202}, lambda _: "")
    return session.report_write(answer)


def reload_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--wait", type=duration, default=RELOAD_SECONDS, metavar="TIME", help="wait at most this long (default 5m); 0 to not wait"
    )
    add_message_argument(parser)


def run_reload(session: Session) -> int:
    operation = session.client.request("POST", f"{SIDECAR}/reloads", None, None, JSON, **session.message_header()).json()
    if session.given.wait:
        operation = session.await_operation(operation["id"], session.given.wait)
    session.show(operation, lambda found: " ".join(filter(None, ("reload", found["progress"].get("reload_id"), found["status"]))) + "\n")
    return OK
