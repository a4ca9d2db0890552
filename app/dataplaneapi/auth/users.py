"""Read the users of the API.

The users are those in `cluster.json` in the storage directory and those in the settings file. If there are none, they are those in the
userlist of `userlist_file` or, if that is not set, of the credential `users`. If there is no such file, they are those in the userlist of
the HAProxy configuration.

After every change of the configuration, by a commit or by another process, the userlist in the configuration is read again if its section
has changed, and a file with users is read again if it has changed.
"""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dataplaneapi.auth import passwords
from dataplaneapi.host import credentials
from dataplaneapi.settings.table import Settings
from haproxy_native.disk.atomic import stamp
from haproxy_native.editing import userlist
from haproxy_native.editing.userlist import User

logger = logging.getLogger(__name__)


class NoUsers(Exception):
    """Raised if a source of users cannot be read."""


class Users:
    """The current users by name. `document` returns the committed configuration. `generation` changes whenever the users are read."""

    def __init__(self, settings: Settings, document: Callable[[], Any]) -> None:
        self._settings, self._document = settings, document
        self._follows = False
        self._seen: Any = None
        self._section: Any = None
        self._by_name: dict[str, User] = {}
        # One stored hash for each cost, which `passwords.verify_evenly` needs.
        self.hashes: Mapping[str, str] = {}
        self.generation = 0
        self.read(settings)

    def read(self, settings: Settings) -> None:
        """Read all sources. If a source cannot be read, keep the former users and raise NoUsers."""
        stored, file = Path(settings.dataplane_storage_dir) / "cluster.json", settings.userlist_file or credentials.path(credentials.USERS)
        stamps = {str(file_): stamp(file_) for file_ in (stored, file) if file_}
        own = [*_read_cluster_file(stored), *map(_user, settings.users)]
        if not own and file:
            try:
                section = userlist.find_in_file(file, settings.userlist)
            except OSError as error:
                reason = "file does not exist" if isinstance(error, FileNotFoundError) else error.strerror
                raise NoUsers(f"cannot read {file}, {reason}") from None
            if section is None:
                raise NoUsers(f"no users configured in {file}, error: it has no userlist {settings.userlist}")
            own = userlist.users(section)
        self._stamps = stamps
        self._settings, self._follows, self._seen = settings, not own, None
        if own:
            self._accept(own)
        else:
            self._section = userlist.find(self._document(), settings.userlist)
            self._accept(userlist.users(self._section))

    def refresh(self) -> None:
        """Read the users again if the configuration has changed. The check is cheap, so call this method before every use.

        If a source cannot be read, log the error and keep the former users.
        """
        if (document := self._document()) is self._seen:
            return
        if any(stamp(file) != former for file, former in self._stamps.items()):
            try:
                self.read(self._settings)
            except NoUsers as error:
                logger.error("reading the users failed; the former users stay in effect: %s", error)
        self._seen = document
        if not self._follows:
            return
        section = userlist.find(document, self._settings.userlist)
        if section is not self._section:
            self._section = section
            self._accept(userlist.users(section))

    def _accept(self, users: Iterable[User]) -> None:
        by_name: dict[str, User] = {}
        for user in users:
            by_name.setdefault(user.name, user)
        self._by_name = by_name
        self.hashes = {cost: user.password for user in by_name.values() if (cost := passwords.cost(user.password, clear=user.clear))}
        if not by_name:
            name = self._settings.userlist
            logger.warning("no users are configured, so every request is answered with 401: add dataplaneapi.user or a userlist %s", name)
        self.generation += 1

    def find(self, name: str) -> User | None:
        return self._by_name.get(name)

    def __iter__(self) -> Iterator[User]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)


def _user(entry: dict[str, Any]) -> User:
    return User(str(entry.get("name", "")), str(entry.get("password", "")), bool(entry.get("insecure", False)))


def _read_cluster_file(path: Path) -> list[User]:
    try:
        text = path.read_bytes()
    except OSError:
        return []
    try:
        entries = json.loads(text).get("users") or [] if text.strip() else []
        return [_user(entry) for entry in entries]
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise NoUsers(f"{path} is not valid: {error}") from None
