"""`ctl edit`: open an object in an editor, and send the edited object to the server.

The PUT has the ETag of the object that was shown. If another client has changed the object meanwhile, the command merges the shown, the
edited and the current object member by member, and sends the result. If the user and the other client have changed the same member, the
editor opens again, with both values in comments.
"""

import argparse
import os
import shlex
import subprocess
import tempfile
from typing import Any

from dataplaneapi.ctl import files, output
from dataplaneapi.ctl.client import query_text
from dataplaneapi.ctl.failures import OK, Failure, RefusedCall
from dataplaneapi.ctl.objects import Object, parse_object
from dataplaneapi.ctl.session import Session, add_write_arguments

HEAD = "# {object}. Lines that begin with # are not sent; an empty file, or one without a change, changes nothing.\n"
EDITORS = ("VISUAL", "EDITOR")
USUAL = "vi"
# The value of a member that an object lacks.
ABSENT: Any = object()
# A member that both sides have changed: its path, my value and theirs, either of which may be ABSENT.
Conflict = tuple[str, Any, Any]


def edit_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "dataplaneapi ctl edit OBJECT [OPTION ...]"
    parser.add_argument("object", nargs="+", metavar="OBJECT", help="as in backend/shop or backend/shop/server/web1")
    add_write_arguments(parser, dry_run=True)


def run_edit(session: Session) -> int:
    target = parse_object(session.given.object)
    if not target.is_configured or not target.is_one:
        raise Failure(f"{target} cannot be edited; only objects of the configuration can, such as backend/shop")
    directory = tempfile.mkdtemp(prefix="dataplaneapi-ctl-")
    editing = _Editing(session, target, os.path.join(directory, f"{str(target).replace('/', '_')}.yaml"))
    try:
        status = editing.run()
    except BaseException as error:
        if editing.is_changed:
            session.note(f"your edits are in {editing.file}")
        else:
            editing.remove()
        if isinstance(error, OSError):
            raise Failure(f"{editing.file}: {error}") from None
        raise
    if session.given.dry_run and editing.is_changed:
        session.note(f"your edits are in {editing.file}")
    else:
        editing.remove()
    return status


class _Editing:
    """The object that the user edits, and the temporary file that the editor opens."""

    def __init__(self, session: Session, target: Object, file: str) -> None:
        self.session, self.target, self.file = session, target, file
        # Whether the file contains edits that the server has not accepted.
        self.is_changed = False
        self._last_notes = ""

    def run(self) -> int:
        """Run the editor until the server accepts the object, or until the user changes nothing. Return the exit status."""
        base, tag = self._read()
        notes, shown = "", base
        while True:
            mine = self._run_editor(shown, notes)
            if mine is None or mine == base:
                self.session.note("nothing was changed")
                self.is_changed = False
                return OK
            self.is_changed = True
            try:
                return self._send(mine, tag)
            except RefusedCall as refused:
                if refused.code == 412:
                    theirs, tag = self._read()
                    shown, conflicts = merge(base, mine, theirs)
                    lines = ["Others have changed the same members; your values are below:"]
                    for path, own, other in conflicts:
                        lines.append(f"{path}: {_value_text(other)} is the value of others, {_value_text(own)} is yours")
                    base, notes = theirs, _comment("\n".join(lines))
                    if not conflicts:
                        self._write(shown, "")
                        try:
                            return self._send(shown, tag)
                        except RefusedCall as again:
                            notes = _comment(str(again))
                elif refused.code in (400, 422):
                    shown, notes = mine, _comment(str(refused))
                else:
                    raise
                if not os.isatty(0) and notes == self._last_notes:
                    raise Failure(f"refused again:\n{notes}", refused.status) from None
                self._last_notes = notes

    def _read(self) -> tuple[Any, str]:
        answer = self.session.client.request("GET", self.target.path, self.target.query)
        return answer.json(), answer.headers.get("etag", "")

    def _send(self, body: Any, tag: str) -> int:
        if self.session.given.dry_run:
            return self.session.plan_or_write({"method": "PUT", "path": self.target.path + query_text(self.target.query), "body": body})
        query, headers = self.session.write_options()
        answer = self.session.client.request("PUT", self.target.path, self.target.query | query, body, **headers, If_Match=tag)
        self.session.note(f"{self.target} was changed")
        return self.session.report_write(answer)

    def _run_editor(self, value: Any, notes: str) -> Any:
        """Write the object `value` to the file, run the editor, and return the object that the file then contains.

        Return None if the file is empty.
        """
        self._write(value, notes)
        editor = next((os.environ[name] for name in EDITORS if os.environ.get(name)), USUAL)
        try:
            words = shlex.split(editor)
        except ValueError as error:
            raise Failure(f"editor {editor}: {error}; set EDITOR to another one") from None
        try:
            status = subprocess.run([*words, self.file], check=False).returncode
        except OSError as error:
            raise Failure(f"editor {words[0]}: {error.strerror}; set EDITOR to another one") from None
        if status:
            raise Failure(f"editor {words[0]} ended with {status}")
        with open(self.file, encoding="utf-8") as file:
            text = file.read()
        try:
            return files.parse_yaml(text, self.file)
        except Failure:
            self.is_changed = True
            raise

    def _write(self, value: Any, notes: str) -> None:
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(HEAD.format(object=self.target) + notes + files.to_yaml(value))

    def remove(self) -> None:
        for name in os.listdir(os.path.dirname(self.file)):
            os.unlink(os.path.join(os.path.dirname(self.file), name))
        os.rmdir(os.path.dirname(self.file))


def _value_text(value: Any) -> str:
    return "nothing" if value is ABSENT else output.cell(value)


def _comment(text: str) -> str:
    return "".join(f"# {line}\n" for line in text.splitlines())


def merge(base: Any, mine: Any, theirs: Any, path: str = "") -> tuple[Any, list[Conflict]]:
    """Merge the changes from `base` to `mine` and from `base` to `theirs`, member by member. Return the result and the conflicts.

    A conflict is a member that both have changed in different ways. The result has the value of `mine` for such a member.
    """
    if mine == theirs or theirs == base:
        return mine, []
    if mine == base:
        return theirs, []
    if not (isinstance(mine, dict) and isinstance(theirs, dict)):
        return mine, [(path or "all", mine, theirs)]
    former = base if isinstance(base, dict) else {}
    result, conflicts = {}, []
    for member in [*theirs, *(name for name in mine if name not in theirs)]:
        full_path = f"{path}.{member}" if path else str(member)
        value, more = merge(former.get(member, ABSENT), mine.get(member, ABSENT), theirs.get(member, ABSENT), full_path)
        conflicts += more
        if value is not ABSENT:
            result[member] = value
    return result, conflicts
