"""`ctl completion`: print the completion script of a shell.

The script runs this command with `--words` and the words of the command line. Each line of the output is a candidate for the last word.
Names of objects come from the server.
"""

import argparse
from collections.abc import Iterable

from dataplaneapi.ctl import contexts, main, objects
from dataplaneapi.ctl.client import Client
from dataplaneapi.ctl.commands.fleet import FLEET, OF_NODE, OF_RELEASE, POLICY
from dataplaneapi.ctl.commands.get import name_of
from dataplaneapi.ctl.failures import OK, Failure
from dataplaneapi.ctl.kinds import AT_RUNTIME, COLLECTIONS, INDEXED, OTHERS, SINGLE
from dataplaneapi.ctl.objects import Object, parse_object
from dataplaneapi.ctl.schemas import Members
from dataplaneapi.ctl.session import FORMATS, Session

# How long a completion waits for the server, in seconds.
SECONDS = 2.0
# Commands whose arguments are objects.
OF_OBJECTS = ("get", "edit", "create", "set", "delete", "references", "rename")
BASH = """\
_dataplaneapi_ctl() {
    if [ "${COMP_WORDS[1]}" != ctl ]; then
        declare -F _shtab_dataplaneapi > /dev/null && _shtab_dataplaneapi "$@"
        return
    fi
    local IFS=$'\\n'
    COMPREPLY=($(dataplaneapi ctl completion --words "${COMP_WORDS[@]:2:COMP_CWORD-1}" 2> /dev/null))
    case "${COMPREPLY[0]}" in */|*=|*.) compopt -o nospace ;; esac
    [ ${#COMPREPLY[@]} -gt 0 ] || compopt -o default
}
complete -F _dataplaneapi_ctl dataplaneapi
"""
ZSH = """\
#compdef dataplaneapi
_dataplaneapi_ctl() {
    if [[ ${words[2]} != ctl ]]; then
        (( $+functions[_shtab_dataplaneapi] )) && _shtab_dataplaneapi
        return
    fi
    local -a found
    found=(${(f)"$(dataplaneapi ctl completion --words "${(@)words[3,CURRENT]}" 2> /dev/null)"})
    (( $#found )) && compadd -S '' -- ${(M)found:#*[/=.]} ; compadd -- ${found:#*[/=.]} || _files
}
compdef _dataplaneapi_ctl dataplaneapi
"""
FISH = """\
complete -c dataplaneapi -n 'test (commandline -opc)[2] = ctl 2> /dev/null' -f \\
    -a '(dataplaneapi ctl completion --words (commandline -opc)[3..] (commandline -ct) 2> /dev/null)'
"""


def completion_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", nargs="?", choices=("bash", "zsh", "fish"), help="as in: source <(dataplaneapi ctl completion bash)")


def run_completion(session: Session) -> int:
    given = session.given
    if given.words is not None:
        words = given.words or [""]
        # Bash separates words at an equals sign.
        words = [*words, ""] if words[-1] == "=" else words
        session.write(
            "".join(f"{candidate}\n" for candidate in candidates(session, words[:-1], words[-1]) if candidate.startswith(words[-1]))
        )
    elif given.shell:
        session.write({"bash": BASH, "zsh": ZSH, "fish": FISH}[given.shell])
    else:
        raise Failure("a shell is required: bash, zsh or fish")
    return OK


def candidates(session: Session, before: list[str], word: str) -> Iterable[str]:
    """Return the candidates for the last word of a command line, which begins with `word`. `before`: all words to the left of it."""
    last = before[-1] if before else ""
    if last == "--context" or before[:2] == ["context", "use"] or before[:1] in (["compare"], ["copy"]):
        return contexts.read_contexts()[1]
    if last == "--to":
        listed, comma, _ = word.rpartition(",")
        return [f"{listed}{comma}{name}" for name in contexts.read_contexts()[1] if name not in listed.split(",")]
    if last in ("-o", "--output"):
        return FORMATS
    if last == "--owner":
        before = ["get", "owner"]
    if not before:
        return main.COMMANDS
    if word.startswith("-"):
        return sorted({flag for made in (main.command_parser(before[0]), main.common()) for flag in made._option_string_actions})
    if before[0] in main.COMMANDS:
        arguments = [action for action in main.command_parser(before[0])._actions if not action.option_strings]
        index = len([each for each in before if not each.startswith("-")]) - 1
        if index < len(arguments) and (choices := arguments[index].choices):
            return choices
    try:
        return _ask_server(session, before, word)
    except Failure:
        return ()


def _ask_server(session: Session, before: list[str], word: str) -> Iterable[str]:
    """Return the candidates that only the server knows, such as names of objects. Raises Failure."""
    context = contexts.context_of(session.given)
    if context.get("user") and not context.get("password") and not context.get("password_file"):
        raise Failure("a completion cannot prompt for the password")
    client = Client(context, timeout=SECONDS)
    command, *more = [word for word in before if not word.startswith("-")]
    if command in ("create", "set") and more:
        return _members(client, parse_object(more[:1]), before, word)
    if command == "create":
        return _new_objects(client, word)
    if command in OF_OBJECTS:
        return _objects(client, more, word, runtime="-r" in before or "--runtime" in before)
    if command == "call":
        from dataplaneapi.ctl.commands.call import operations

        known = operations(client)
        return [f"--{name}" for name in known[more[0]]["parameters"]] if more and more[0] in known else known
    if command in ("drain", "ready", "maint", "weight"):
        backends = client.get(parse_object(["backend"]).path, {"full_section": "true"})
        return [f"{backend['name']}/{server}" for backend in backends for server in backend.get("servers", {})]
    if command == "map" and len(more) == 1:
        return _names(client, parse_object(["map"]))
    if command == "cert" and more == ["delete"]:
        return _names(client, parse_object(["certificate"]))
    if command == "fleet" and more[:1] == ["policy"]:
        return [f"{name}=" for name in POLICY]
    if command == "fleet" and len(more) == 1:
        releases = [str(each["number"]) for each in client.get(f"{FLEET}/releases")] if more[0] in OF_RELEASE else []
        return releases + ([each["name"] for each in client.get(f"{FLEET}/nodes")] if more[0] in OF_NODE else [])
    if command == "stats" and not more:
        return [name for kind in ("frontend", "backend", "listen") for name in _names(client, parse_object([kind]))]
    if command == "split" and not more:
        return _names(client, parse_object(["split"]))
    return ()


def _members(client: Client, target: Object, before: list[str], word: str) -> Iterable[str]:
    """Return candidates for a member of the object `target`.

    After a member and an equals sign, return candidates for the member's value.
    """
    if before[-1] == "=":
        return Members(client, target).choices(before[-2].split("."))
    member, equals, _ = word.partition("=")
    path = member.split(".")
    if equals:
        return [f"{member}={value}" for value in Members(client, target).choices(path)]
    above = "".join(f"{name}." for name in path[:-1])
    return [f"{above}{name}" for name in Members(client, target).names(path[:-1])]


def _new_objects(client: Client, word: str) -> Iterable[str]:
    """Return candidates for the next part in the name of a new object: a kind, an existing section, or a kind of objects in the section."""
    first, *more = word.split("/")
    kinds = sorted({kind.partition("/")[0] for kind in COLLECTIONS})
    inside = [kind.partition("/")[2] for kind in COLLECTIONS if kind.startswith(f"{first}/")]
    if not more:
        return [*(f"{kind}/" for kind in kinds), *SINGLE]
    if len(more) == (1 if first in SINGLE else 2):
        above = word.rpartition("/")[0]
        return [f"{above}/{kind}{'' if kind in INDEXED else '/'}" for kind in inside]
    return [f"{first}/{name}/" for name in _names(client, parse_object([first]))] if len(more) == 1 and inside else ()


def _objects(client: Client, more: list[str], word: str, *, runtime: bool) -> Iterable[str]:
    """Return the names of existing objects that complete `word`. `more`: the words to the left that are part of the object's name."""
    if more:
        return _names(client, parse_object(more, runtime=runtime))
    parts = word.split("/")
    known = list(AT_RUNTIME if runtime else {**COLLECTIONS, **OTHERS})
    if len(parts) == 1:
        kinds = objects.kinds(runtime=runtime)
        return [f"{kind}/" for kind in kinds] if word in kinds else kinds
    above = "/".join(parts[:-1])
    if len(parts) == 3:
        return [f"{above}/{kind.partition('/')[2]}" for kind in known if kind.startswith(f"{parts[0]}/")]
    if len(parts) == 2 and parts[0] not in known:
        return [f"{above}/{name}" for name in _names(client, parse_object([parts[0]]))]
    return [f"{above}/{name}" for name in _names(client, parse_object([above], runtime=runtime))]


def _names(client: Client, target: Object) -> list[str]:
    elements = client.get(target.path, target.query) if not target.is_one else []
    return [name_of(target, index, element) for index, element in enumerate(elements)]
