"""Checks of the process, its users, and of words that HAProxy gives up. Pure."""

from collections.abc import Iterator

from haproxy_native.features.lint.declared import words
from haproxy_native.features.lint.finding import Found
from haproxy_native.features.lint.view import View


def process_is_root(view: View) -> Iterator[Found]:
    for scope in view.of_kind(words()["global"]["section"]):
        for word, values in words()["global"]["root"].items():
            for statement in scope.own(word):
                if statement.is_certain and statement.words[1:2] and statement.words[1] in values:
                    yield Found(statement, "who takes over the process has the machine")


def process_may_fork(view: View) -> Iterator[Found]:
    for scope in view.of_kind(words()["global"]["section"]):
        for statement in scope.own(*words()["global"]["forks"]):
            if statement.is_certain:
                yield Found(statement, "who takes over the process may start programs")


def password_in_clear(view: View) -> Iterator[Found]:
    table = words()["global"]
    for scope in view.of_kind(table["userlist"]):
        for statement in scope.own(table["user"]):
            if statement.is_certain and statement.is_known and statement.has(table["plain"]):
                yield Found(statement, f"the password of {statement.words[1]} stands in the file, its copies and its history")


def local_peer_missing(view: View) -> Iterator[Found]:
    table = words()["global"]
    named = [statement for scope in view.of_kind(table["section"]) for statement in scope.own(table["local_peer"])]
    if len(named) != 1 or not named[0].is_certain or not named[0].is_known or len(named[0].words) < 2:
        return
    for scope in view.of_kind(table["peers"]):
        peers = scope.own(*table["peer"])
        is_known = all(peer.is_certain and peer.is_known for peer in peers)
        if peers and is_known and not any(peer.words[1:2] == named[0].words[1:2] for peer in peers):
            yield Found(scope.header, f"none of its peers is {named[0].words[1]}: HAProxy does not use the section")


def word_deprecated(view: View) -> Iterator[Found]:
    lines = words()["deprecated"]["lines"]
    of = {old.split()[0]: [row for row in lines if row[0].split()[0] == old.split()[0]] for old, _, _ in lines}
    known = [word for word in of if word in view.first_words]
    for scope in view.scopes if known else ():
        for statement in (statement for word in known for statement in scope.by_word.get(word, ())):
            row = next((row for row in of[statement.words[0]] if statement.begins(row[0])), None)
            if row and statement.is_certain and not (scope.kind == words()["global"]["section"] and row[1].startswith(row[0])):
                yield Found(statement, f"{row[0]} is no word of HAProxy from version {row[2]} on; {row[1]} stands in its place")
