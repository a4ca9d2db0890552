"""Whose transaction it is, and what others may do with it."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from haproxy_native.access.rights import Rights, Rule
from haproxy_native.errors import Forbidden
from haproxy_native.request_context import Author, author
from haproxy_native.text.document import Document
from haproxy_native.transactions.transactions import Transactions

DOCUMENT = Document.parse("backend a\n")
READER = Rights(("reader",), (Rule("**"),))
NONE = Rights(("team",), (Rule("backend/*", frozenset(("change",))),))
ADMIN = Rights(("admin",), (Rule("**", frozenset(("read", "change", "delete"))),))


@contextmanager
def asked_by(name: str, rights: Rights | None, group: str = "users") -> Iterator[None]:
    token = author.set(Author(name, rights=rights, group=group))
    try:
        yield
    finally:
        author.reset(token)


def opened(tmp_path: Path) -> Transactions:
    (tmp_path / "haproxy.cfg").write_text("backend a\n")
    transactions = Transactions(tmp_path / "transactions", tmp_path / "haproxy.cfg")
    transactions.load()
    return transactions


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(Forbidden) as error:
        call()
    return error.value.detail


def test_ones_own_and_those_of_others(tmp_path: Path) -> None:
    with asked_by("ann", NONE):
        id_ = opened(tmp_path).start(DOCUMENT, 1).id
    # As a later process finds it.
    transactions = opened(tmp_path)
    with asked_by("ann", NONE):
        assert transactions.to_read(id_) is transactions.to_commit(id_) and [each.id for each in transactions.list()] == [id_]
        asyncio.run(transactions.change(id_, lambda document: document))
    for name, group in (("bob", "users"), ("ann", "certificates")):
        with asked_by(name, NONE, group):
            assert transactions.list() == []
            assert f"may not read transaction/{id_}" in refused(lambda: transactions.to_read(id_))
            assert f"may not delete transaction/{id_}" in refused(lambda: transactions.delete(id_))
    with asked_by("bob", READER):
        assert transactions.to_read(id_).id == id_ and transactions.list()
        assert "may not change" in refused(lambda: transactions.to_commit(id_))
        assert "may not change" in refused(lambda: asyncio.run(transactions.change(id_, lambda document: document)))
    for rights in (ADMIN, None):
        with asked_by("root", rights):
            assert transactions.to_commit(id_)
    with asked_by("root", ADMIN):
        transactions.delete(id_)


def test_one_of_before_is_no_ones(tmp_path: Path) -> None:
    id_ = opened(tmp_path).start(DOCUMENT, 1).id
    transactions = opened(tmp_path)
    with asked_by("", NONE):
        refused(lambda: transactions.to_read(id_))
        transactions.clear()
    assert transactions.list() == []
