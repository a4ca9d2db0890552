"""`ctl edit`: an object in an editor, sent back without losing what others have changed meanwhile."""

import argparse
import os
import shlex
import subprocess
import tempfile
from typing import Any

from dataplaneapi.ctl import formats, merging, tables, waiting
from dataplaneapi.ctl.client import Answer
from dataplaneapi.ctl.commands.apply import add_waiting, writing
from dataplaneapi.ctl.failures import OK, Failure, Refused
from dataplaneapi.ctl.objects import Object, parsed
from dataplaneapi.ctl.session import Session

HEAD = "# {object}. Lines that begin with # are not sent; an empty file, or one without a change, changes nothing.\n"
EDITORS = ("VISUAL", "EDITOR")
USUAL = "vi"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("object", nargs="+", metavar="KIND NAME", help="as in backend/shop or backend/shop/server/web1")
    add_waiting(parser)


def run(session: Session) -> int:
    asked = parsed(session.given.object)
    if not asked.is_configured or not asked.is_one:
        raise Failure(f"{asked} cannot be edited; objects of the configuration can, as backend/shop")
    directory = tempfile.mkdtemp(prefix="dataplaneapi-ctl-")
    editing = _Editing(session, asked, os.path.join(directory, f"{str(asked).replace('/', '_')}.yaml"))
    try:
        status = editing.run()
    except BaseException as error:
        if editing.is_changed:
            session.note(f"what you have edited is in {editing.file}")
        else:
            editing.remove()
        if isinstance(error, OSError):
            raise Failure(f"{editing.file}: {error}") from None
        raise
    editing.remove()
    return status


class _Editing:
    """`base`: what the text in the editor was made of."""

    def __init__(self, session: Session, asked: Object, file: str) -> None:
        self.session, self.asked, self.file = session, asked, file
        self.is_changed = False

    def run(self) -> int:
        """Runs the editor until the server takes the text, or nothing is changed."""
        base, tag = self._read()
        notes, shown = "", base
        while True:
            mine = self._edited(shown, notes)
            if mine is None or mine == base:
                self.session.note("nothing is changed")
                self.is_changed = False
                return OK
            self.is_changed = True
            try:
                return self._sent(mine, tag)
            except Refused as refused:
                if refused.code == 412:
                    theirs, tag = self._read()
                    shown, clashes = merging.merged(base, mine, theirs)
                    base, notes = theirs, _explained(clashes)
                    if not clashes:
                        # What others have changed stands elsewhere: it is sent with that.
                        self._write(shown, "")
                        try:
                            return self._sent(shown, tag)
                        except Refused as again:
                            notes = _commented(str(again))
                elif refused.code in (400, 422):
                    shown, notes = mine, _commented(str(refused))
                else:
                    raise
                if not os.isatty(0) and notes == getattr(self, "_former_notes", None):
                    raise Failure(f"it is refused again:\n{notes}", refused.status) from None
                self._former_notes = notes

    def _read(self) -> tuple[Any, str]:
        answer = self.session.client.ask("GET", self.asked.path, self.asked.query)
        return answer.json(), answer.headers.get("etag", "")

    def _sent(self, body: Any, tag: str) -> int:
        query, headers = writing(self.session)
        answer: Answer = self.session.client.ask("PUT", self.asked.path, self.asked.query | query, body, **headers, If_Match=tag)
        self.session.note(f"{self.asked} is changed")
        return waiting.written(self.session, answer, self.session.given.wait)

    def _edited(self, value: Any, notes: str) -> Any:
        """What the editor leaves; None for nothing."""
        self._write(value, notes)
        editor = next((os.environ[name] for name in EDITORS if os.environ.get(name)), USUAL)
        try:
            words = shlex.split(editor)
        except ValueError as error:
            raise Failure(f"editor {editor}: {error}; EDITOR names another") from None
        try:
            status = subprocess.run([*words, self.file], check=False).returncode
        except OSError as error:
            raise Failure(f"editor {words[0]}: {error.strerror}; EDITOR names another") from None
        if status:
            raise Failure(f"editor {words[0]} ended with {status}")
        with open(self.file, encoding="utf-8") as file:
            text = file.read()
        try:
            return formats.parse_yaml(text, self.file)
        except Failure:
            self.is_changed = True
            raise

    def _write(self, value: Any, notes: str) -> None:
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(HEAD.format(object=self.asked) + notes + formats.to_yaml(value))

    def remove(self) -> None:
        for name in os.listdir(os.path.dirname(self.file)):
            os.unlink(os.path.join(os.path.dirname(self.file), name))
        os.rmdir(os.path.dirname(self.file))


def _explained(clashes: list[merging.Clash]) -> str:
    lines = [f"{clash.path}: {_shown(clash.theirs)} is what others have made of it, {_shown(clash.mine)} is yours" for clash in clashes]
    return _commented("\n".join(["Others have changed the same, your values stand below:", *lines]))


def _shown(value: Any) -> str:
    return "nothing" if value is merging.ABSENT else tables.cell(value)


def _commented(text: str) -> str:
    return "".join(f"# {line}\n" for line in text.splitlines())
