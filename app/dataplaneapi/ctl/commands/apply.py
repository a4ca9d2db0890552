"""`ctl apply` applies what an owner declares. `ctl plan` shows everything that `ctl apply` would change.

Files, directories and standard input are joined to one declaration, which is sent as one body. With stored files, such as maps and
certificates, the body is a multipart form.
"""

import argparse
import hashlib
import os
import sys
from collections.abc import Iterator
from typing import Any

from dataplaneapi.ctl import files, output
from dataplaneapi.ctl.client import JSON, TEXT, YAML
from dataplaneapi.ctl.failures import CONFLICT, DIFFERS, OK, REFUSED, Failure
from dataplaneapi.ctl.objects import SIDECAR
from dataplaneapi.ctl.session import Session, add_write_arguments

OPTIONS = ("owner", "prune", "force", "max_delete", "unowned")
KINDS = {".json": JSON, ".yaml": YAML, ".yml": YAML, ".cfg": TEXT}
# The names of directories with stored files, and the name that their files have as parts of the form.
DIRECTORIES = {
    "maps": "maps",
    "certificates": "ssl_certificates",
    "crt_lists": "ssl_crt_lists",
    "general": "general",
    "acl_files": "acls",
}
# The same names for stored files outside these directories, by file extension.
ENDINGS = {".map": "maps", ".pem": "ssl_certificates"}
# Extensions of stored files whose kind only the directory shows.
STORED = (".crt", ".key", ".lst", ".acl", ".http")
FORM = "multipart/form-data; boundary="


def apply_arguments(parser: argparse.ArgumentParser) -> None:
    declaration_arguments(parser)
    parser.add_argument("--diff", action="store_true", help=f"like --dry-run, but exit with {DIFFERS} if something would change")
    parser.add_argument("--plan", metavar="TOKEN", help="apply the plan with this token, or with the token in @FILE")
    add_write_arguments(parser, dry_run=True)


def plan_arguments(parser: argparse.ArgumentParser) -> None:
    declaration_arguments(parser)
    parser.add_argument("--exit-code", action="store_true", help=f"exit with {DIFFERS} if something would change")
    parser.add_argument("--tests", dest="with_tests", action="store_true", help="show which routing tests it would break")
    parser.add_argument("--save", metavar="FILE", help="write the token of the plan to a file, for apply --plan @FILE")


def declaration_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of commands that take a declaration: its files, its owner, and how `apply` handles conflicts and deletions."""
    parser.add_argument(
        "-f", "--file", action="append", metavar="FILE", help="YAML, JSON or .cfg, a directory of them, or - for standard input"
    )
    parser.add_argument("--owner", metavar="NAME", help="name of the owner, such as a team or a pipeline; required, unless --plan is given")
    parser.add_argument(
        "--prune", action=argparse.BooleanOptionalAction, help="delete what the owner declared earlier and no longer declares (default)"
    )
    parser.add_argument("--force", action="store_true", default=None, help="take over objects and members that others own")
    parser.add_argument("--max-delete", type=int, metavar="N", help="refuse the change if it would delete more objects than this")
    parser.add_argument(
        "--unowned",
        metavar="MEMBERS",
        help="members that are set only when their object is created, and left to others afterwards, as in weight,maintenance",
    )


def run_apply(session: Session) -> int:
    given = session.given
    if given.plan:
        if given.file or any(getattr(given, name) is not None for name in OPTIONS) or given.dry_run or given.diff:
            raise Failure("--plan excludes -f and the other options of a declaration, which the plan has already")
        token = given.plan
        if token.startswith("@"):
            try:
                with open(token[1:], encoding="utf-8") as file:
                    token = file.read().strip()
            except (OSError, UnicodeDecodeError) as error:
                raise Failure(f"{given.plan[1:]}: {error}") from None
            if not token:
                raise Failure(f"{given.plan[1:]} contains no token: its plan had conflicts, or HAProxy refused it")
        return _apply(session, {"plan": token}, None, JSON)
    if not given.file or not given.owner:
        raise Failure("-f FILE and --owner NAME are required, or --plan TOKEN")
    if given.dry_run or given.diff:
        plan, status = _plan(session)
        return DIFFERS if status == OK and given.diff and differs(plan) else status
    body, kind = read_declarations(given.file)
    return _apply(session, {name: getattr(given, name) for name in OPTIONS}, body, kind)


def run_plan(session: Session) -> int:
    given = session.given
    if not given.file or not given.owner:
        raise Failure("-f FILE and --owner NAME are required")
    plan, status = _plan(session)
    if given.save:
        try:
            with open(given.save, "w", encoding="utf-8") as file:
                # Written even without a token, so that the file does not keep the token of an earlier plan.
                file.write(f"{plan.get('plan_token', '')}\n")
        except OSError as error:
            raise Failure(f"{given.save}: {error.strerror}") from None
    return DIFFERS if status == OK and given.exit_code and differs(plan) else status


def _plan(session: Session) -> tuple[dict[str, Any], int]:
    """Plan the declaration and show the plan. Return the plan and the exit status: CONFLICT, REFUSED or OK."""
    given = session.given
    body, kind = read_declarations(given.file)
    query = {name: getattr(given, name) for name in OPTIONS} | {"dry_run": True, "tests": "require" if given.with_tests else None}
    plan = session.client.request("PUT", f"{SIDECAR}/apply", query, body, kind).json()
    session.show(plan, lambda result: declaration_text(result, colours=session.colours))
    return plan, plan_status(plan)


def plan_status(plan: dict[str, Any]) -> int:
    """Return CONFLICT or REFUSED for a plan that cannot be carried out, otherwise OK."""
    tests = plan.get("tests", {})
    if plan["conflicts"]:
        return CONFLICT
    return REFUSED if not plan["valid"] or tests.get("failed_tests") or "untested" in tests else OK


def _apply(session: Session, query: dict[str, Any], body: bytes | None, kind: str) -> int:
    more, headers = session.write_options()
    answer = session.client.request("PUT", f"{SIDECAR}/apply", query | more, body, kind, **headers)
    return session.report_write(answer, lambda result: declaration_text(result, colours=session.colours))


def differs(plan: dict[str, Any]) -> bool:
    """Return whether a plan changes anything."""
    return any(plan[name] for name in ("created", "changed", "deleted"))


def declaration_text(found: dict[str, Any], *, colours: bool = False) -> str:
    """Return the changes in the plan of a declaration, as text. For the result of an apply, return the changes that were made."""
    lines = [output.coloured(f"+ {name}", output.GREEN, colours=colours) for name in found["created"]]
    for row in found["changed"]:
        change = f"~ {row['object']}  {row['member']}: {output.cell(row.get('old'))} -> {output.cell(row.get('new'))}"
        lines.append(output.coloured(change, output.YELLOW, colours=colours))
    lines += [output.coloured(f"- {name}", output.RED, colours=colours) for name in found["deleted"]]
    lines += [f"taken from {', '.join(row['owners'])}: {row['object']} {row.get('member', '')}".rstrip() for row in found["taken"]]
    lines += [output.coloured(line, output.RED, colours=colours) for line in conflict_lines(found)]
    lines += output.effect_lines(found)
    lines += [output.coloured(line, output.RED, colours=colours) for line in test_lines(found.get("tests", {}))]
    counts = ", ".join(f"{len(found[name])} {name}" for name in ("created", "changed", "deleted", "unchanged"))
    lines.append(f"{found['owner']}, version {found['version']}: {counts}")
    return "\n".join([*lines, *([f"plan token: {found['plan_token']}"] if "plan_token" in found else [])]) + "\n"


def test_lines(tests: dict[str, Any]) -> list[str]:
    """Return a line for each failed routing test. `tests`: the member `tests` of an answer."""
    lines = [f"breaks test {test.get('test', '')}, {test['name']}: {test.get('reason', '')}" for test in tests.get("failed_tests", ())]
    lines += [f"fails without it as well: test {name}" for name in tests.get("failed_before", ())]
    return [*lines, *([tests["untested"]] if "untested" in tests else [])]


def conflict_lines(answer: dict[str, Any]) -> list[str]:
    """Return a line for each conflict in a plan or in the body of a refusal.

    The line names the owner, or the last author, of the member.
    """
    lines = []
    for conflict in answer.get("conflicts", ()):
        subject = "  ".join(filter(None, (conflict["object"], conflict.get("member"))))
        others = ", ".join(conflict.get("owners") or filter(None, [conflict.get("author")]))
        theirs = output.cell(conflict.get("theirs")) + (f" of {others}" if others else "")
        lines.append(f"! {subject}: {theirs}, {output.cell(conflict.get('mine'))} here")
    return lines


def read_declarations(names: list[str]) -> tuple[bytes, str]:
    """Return one request body with the content of all named files, and the media type of this body. Raises Failure."""
    declarations, stored = [], []
    for name in names:
        for file, content, kind in _read_files(name):
            if kind in KINDS.values():
                declarations.append((file, content, kind))
            else:
                stored.append((kind, os.path.basename(file), content))
    kinds = {kind for _, _, kind in declarations}
    if len(declarations) == 1:
        _, body, media_type = declarations[0]
    elif kinds == {TEXT}:
        body, media_type = b"\n".join(content.rstrip(b"\n") + b"\n" for _, content, _ in declarations), TEXT
    elif TEXT in kinds:
        raise Failure(
            "parts of a configuration (.cfg) and objects (.yaml, .json) cannot be declared in one call; use a separate owner for each"
        )
    else:
        body, media_type = files.to_json(_merge_objects(declarations)).encode(), JSON
    return _form(body, media_type, stored) if stored else (body, media_type)


def _read_files(name: str) -> Iterator[tuple[str, bytes, str]]:
    """Yield (name, content, kind) of each file that the argument `name` of a command means: a file, a directory, or `-` for standard input.

    In a directory, files are ignored if `_kind` returns an empty text for them. Raises Failure.
    """
    if name == "-":
        data = sys.stdin.buffer.read()
        yield "standard input", data, guess_media_type(data)
        return
    if not os.path.isdir(name):
        data = files.read(name)
        yield name, data, _kind(name) or guess_media_type(data)
        return
    found = []
    for above, below, file_names in os.walk(name):
        below[:] = sorted(directory for directory in below if not directory.startswith("."))
        for file_name in sorted(file_names):
            if file_name.startswith(".") or file_name.endswith("~"):
                continue
            if kind := _kind(os.path.join(above, file_name), "" if above == name else os.path.basename(above)):
                found.append((os.path.join(above, file_name), kind))
    if not found:
        raise Failure(f"{name} has no .yaml, .json or .cfg file, and no stored file")
    for file, kind in found:
        yield file, files.read(file), kind


def _kind(file: str, directory: str = "") -> str:
    """Return the media type of a declaration or, for a stored file, the name of its part in the form. Return an empty text for other files.

    `directory`: the name of the directory that contains the file. It is empty if this is the directory that the user has named. Raises
    Failure for a stored file whose kind is unknown.
    """
    ending = os.path.splitext(file)[1]
    if ending in STORED and directory not in DIRECTORIES:
        raise Failure(f"{file}: the kind of this stored file is unknown; put it into a directory named {' or '.join(DIRECTORIES)}")
    return DIRECTORIES.get(directory) or ENDINGS.get(ending) or KINDS.get(ending, "")


def guess_media_type(data: bytes) -> str:
    """Return the media type that a declaration probably has, judging by its first line that is not a comment."""
    for line in data.decode("utf-8", "replace").splitlines():
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if text.startswith("{"):
            return JSON
        return YAML if text == "---" or text.partition(" ")[0].endswith(":") else TEXT
    return TEXT


def _merge_objects(declarations: list[tuple[str, bytes, str]]) -> dict[str, Any]:
    """Return the objects of all declarations. Lists of the same collection are concatenated.

    `declarations`: (file, content, media type) of each declaration. Raises Failure if two files have the same singleton.
    """
    merged: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for name, data, kind in declarations:
        parsed = files.parse_json(data, name) if kind == JSON else files.parse_yaml(data.decode("utf-8", "replace"), name)
        if not isinstance(parsed, dict):
            raise Failure(f"{name}: expected objects by collection, as in backends: [...]")
        for collection, value in parsed.items():
            if isinstance(value, list):
                if not isinstance(merged.setdefault(collection, []), list):
                    raise Failure(f"{name}: {collection} is a list here, but not in {origin[collection]}")
                merged[collection] += value
            elif collection in merged:
                raise Failure(f"{name}: {collection} is in {origin[collection]}, too")
            else:
                merged[collection] = value
            origin.setdefault(collection, name)
    return merged


def _form(body: bytes, kind: str, stored: list[tuple[str, str, bytes]]) -> tuple[bytes, str]:
    """Return a multipart form with the declaration `body` and the stored files, and the media type of the form.

    The boundary is a hash of the content, so that equal declarations result in equal bytes. `ctl follow` compares these bytes to recognize
    a state that it has applied already.
    """
    ending = next(ending for ending, kind_ in KINDS.items() if kind_ == kind)
    parts = [*([("configuration", f"declared{ending}", body)] if body else []), *stored]
    boundary = hashlib.sha256(b"".join(data for _, _, data in parts)).hexdigest()[:32]
    lines = []
    for part, name, data in parts:
        # Escaped as browsers do it.
        quoted = name.replace("%", "%25").replace('"', "%22")
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{part}"; filename="{quoted}"\r\n\r\n'
        lines += [head.encode(), data, b"\r\n"]
    return b"".join([*lines, f"--{boundary}--\r\n".encode()]), f"{FORM}{boundary}"
