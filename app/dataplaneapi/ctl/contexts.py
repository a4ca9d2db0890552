"""Find the server and the credentials of a call. Flags take precedence over environment variables, and these over the file of contexts.

Credentials are sent only to the server for which they were given: if a flag or a variable names a server, the credentials of the context
are not used.
"""

import os
import re
from argparse import Namespace
from urllib.parse import SplitResult, urlsplit

from dataplaneapi.ctl import files
from dataplaneapi.ctl.failures import Failure

PREFIX = "DATAPLANECTL_"
# Members of a context, each with what it means; its flag is --MEMBER with dashes, its variable DATAPLANECTL_MEMBER.
MEMBERS = {
    "url": "address of the server, http://HOST:PORT or https://HOST:PORT (default http://127.0.0.1:5555)",
    "socket": "unix socket of the server, instead of an address",
    "user": "name of a user",
    "password": "password of the user; never a flag",
    "password_file": "file whose first line is the password",
    "token": "token, instead of user and password; never a flag",
    "token_file": "file whose first line is the token",
    "ca": "file with the trusted authorities for https (default those of the system)",
    "certificate": "client certificate, as PEM",
    "key": "private key of the certificate, unless it is in the same file",
}
SECRETS = ("password", "token")
CREDENTIALS = (*SECRETS, "user", "password_file", "token_file", "certificate", "key")
_PLAIN = re.compile(r"[!-~]+")
DEFAULT_URL = "http://127.0.0.1:5555"
EXAMPLE = "contexts: {edge: {url: https://lb1.example.org:5556, user: ci, password_file: /home/ci/.lb1}}"


class Context:
    """The server and the credentials of a call. `members` has only the members that are set."""

    def __init__(self, name: str, members: dict[str, str]) -> None:
        self.name, self.members = name, members

    def get(self, member: str) -> str:
        return self.members.get(member, "")

    @property
    def url(self) -> str:
        return self.get("url") or DEFAULT_URL

    def token(self) -> str:
        return self.get("token") or (_read_secret(self.get("token_file")) if self.get("token_file") else "")

    def password(self) -> str:
        """Return the password. If it is not set, ask for it on the terminal. Raises Failure if neither is possible."""
        if "password" in self.members:
            return self.members["password"]
        if self.get("password_file"):
            return _read_secret(self.get("password_file"))
        import getpass
        import sys

        if not sys.stdin.isatty():
            raise Failure(f"no password for user {self.get('user')}: set {PREFIX}PASSWORD_FILE, or password_file in the context")
        return getpass.getpass(f"Password of {self.get('user')} at {self.get('socket') or self.url}: ")


def parse_url(text: str, option: str) -> SplitResult:
    """Parse a URL. Raises Failure, whose message names the option `option`, and quotes the URL unless it may contain a password."""
    why = ""
    try:
        url = urlsplit(text)
        # Raises UnicodeError, a ValueError, for a host with an overlong label.
        (url.hostname or "").encode("idna")
        if url.scheme in ("http", "https") and url.hostname and url.port != 0 and "@" not in url.netloc and _PLAIN.fullmatch(text):
            return url
    except ValueError as error:
        why = f" ({error})"
    given = "" if "@" in text else f", not {text!r}{why}"
    raise Failure(f"{option} must be http://HOST/PATH or https://HOST/PATH, without a user{given}")


def path() -> str:
    """Return the path of the file of contexts."""
    directory = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.environ.get(f"{PREFIX}CONFIG") or os.path.join(directory, "dataplaneapi", "ctl.yaml")


def read_contexts() -> tuple[str, dict[str, dict[str, str]]]:
    """Return the name of the current context, which may be empty, and all contexts. Raises Failure."""
    try:
        with open(path(), encoding="utf-8") as file:
            text, mode = file.read(), os.fstat(file.fileno()).st_mode
    except FileNotFoundError:
        return "", {}
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"{path()}: {error}") from None
    data: object = files.parse_flat_yaml(text)
    if data is None:
        data = files.parse_yaml(text, path())
    data = {} if data is None else data
    contexts = data.get("contexts") or {} if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(contexts, dict) or not isinstance(data.get("current", ""), str):
        raise Failure(f"{path()}: contexts must be a map, as in {EXAMPLE}")
    for name in data:
        if name not in ("contexts", "current"):
            raise Failure(f"{path()}: unknown key {name!r}; expected contexts or current")
    for name, context in contexts.items():
        if not isinstance(context, dict) or not all(isinstance(value, str) for value in context.values()):
            raise Failure(f"{path()}: context {name} must be a map of texts, as in {EXAMPLE}")
        for member in context:
            if member not in MEMBERS:
                raise Failure(f"{path()}: unknown key {member!r} in context {name}; expected one of {', '.join(MEMBERS)}")
    if any(secret in context for context in contexts.values() for secret in SECRETS):
        _demand_private(path(), mode)
    return data.get("current", ""), contexts


def context_of(given: Namespace) -> Context:
    """Return the context for the arguments of a command. Raises Failure if the arguments name an unknown context.

    Flags take precedence over variables, and variables over the file. If flags name a server, variables and the file are ignored. If
    variables name a server, the file is ignored.
    """
    flags = {name: value for name in MEMBERS if (value := getattr(given, name, None))}
    variables = {name: value for name in MEMBERS if (value := os.environ.get(PREFIX + name.upper()))}
    requested = getattr(given, "context", None) or os.environ.get(f"{PREFIX}CONTEXT")
    has_address = any(name in level for level in (flags, variables) for name in ("url", "socket"))
    stored = Context("", {}) if has_address and not requested else stored_context(requested)
    merged: dict[str, str] = {}
    for level in (flags, variables, stored.members):
        # All credentials come from one level: the user of one level and the token of another do not belong together.
        has_credentials = any(name in merged for name in CREDENTIALS)
        merged |= {name: value for name, value in level.items() if name not in merged and not (has_credentials and name in CREDENTIALS)}
        if "url" in level or "socket" in level:
            break
    return Context(stored.name, merged)


def stored_context(requested: str | None) -> Context:
    """Return the context `requested` from the file, or the current context if `requested` is empty. Flags and variables are ignored.

    If there is no current context, return an empty context. Raises Failure if the file does not have the context.
    """
    current, contexts = read_contexts()
    name = requested or current
    if name and name not in contexts:
        raise Failure(f"context {name} is not in {path()}; there {'are ' + ', '.join(contexts) if contexts else 'is none'}")
    return Context(name, contexts.get(name, {}))


def _read_secret(file: str) -> str:
    """Return the first line of a file. Raises Failure, for example if others than the owner can read the file."""
    try:
        with open(file, encoding="utf-8") as opened:
            _demand_private(file, os.fstat(opened.fileno()).st_mode)
            return opened.readline().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"{file}: {error}") from None


def check_key(file: str) -> None:
    """Raise Failure if others than the owner can read the private key in `file`."""
    try:
        _demand_private(file, os.stat(file).st_mode)
    except OSError as error:
        raise Failure(f"{file}: {error}") from None


def _demand_private(file: str, mode: int) -> None:
    # Credentials from systemd are readable by this process alone; their mode shows the mask of an ACL.
    credentials = os.environ.get("CREDENTIALS_DIRECTORY")
    if mode & 0o077 and not (credentials and os.path.dirname(file) == credentials):
        raise Failure(f"{file} contains a secret, and others can read it (mode {mode & 0o777:04o}): chmod 600 {file}")
