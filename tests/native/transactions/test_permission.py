"""Whose transaction it is, and what others may do with it."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from haproxy_native.access.rights import AccessRule, Rights
from haproxy_native.errors import Forbidden
from haproxy_native.request_context import NOBODY, Author
from haproxy_native.text.document import Document
from haproxy_native.transactions.transactions import Transactions
from tests.native.transactions import processes

DOCUMENT = Document.parse("backend a\n")
READER = Rights(("reader",), (AccessRule("**"),))
NONE = Rights(("team",), (AccessRule("backend/*", frozenset(("change",))),))
ADMIN = Rights(("admin",), (AccessRule("**", frozenset(("read", "change", "delete"))),))


def by(name: str, rights: Rights | None, group: str = "users") -> Author:
    return Author(name, rights=rights, group=group)


def opened(tmp_path: Path) -> Transactions:
    (tmp_path / "haproxy.cfg").write_text("backend a\n")
    return processes.opened(tmp_path / "transactions")


def refused(call: Callable[..., object], *given: object) -> str:
    with pytest.raises(Forbidden) as error:
        call(*given)
    return error.value.detail


def test_ones_own_and_those_of_others(tmp_path: Path) -> None:
    ann = by("ann", NONE)
    id_ = opened(tmp_path).start(DOCUMENT, 1, ann).id
    # As a later process finds it.
    transactions = opened(tmp_path)
    assert transactions.to_read(id_, ann) is transactions.to_commit(id_, ann)
    assert [each.id for each in transactions.list(author=ann)] == [id_]
    asyncio.run(transactions.change(id_, lambda document: document, ann))
    for other in (by("bob", NONE), by("ann", NONE, "certificates")):
        assert transactions.list(author=other) == []
        assert f"may not read transaction/{id_}" in refused(transactions.to_read, id_, other)
        assert f"may not delete transaction/{id_}" in refused(transactions.delete, id_, other)
    reader = by("bob", READER)
    assert transactions.to_read(id_, reader).id == id_ and transactions.list(author=reader)
    assert "may not change" in refused(transactions.to_commit, id_, reader)
    assert "may not change" in refused(lambda: asyncio.run(transactions.change(id_, lambda document: document, reader)))
    for rights in (ADMIN, None):
        assert transactions.to_commit(id_, by("root", rights))
    transactions.delete(id_, by("root", ADMIN))


def test_one_of_before_is_no_ones(tmp_path: Path) -> None:
    id_ = opened(tmp_path).start(DOCUMENT, 1, NOBODY).id
    transactions = opened(tmp_path)
    refused(transactions.to_read, id_, by("", NONE))
    transactions.clear()
    assert transactions.list(author=NOBODY) == []
