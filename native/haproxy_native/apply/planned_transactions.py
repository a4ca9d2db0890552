"""Transactions that were planned, committed as they were shown, or not at all."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from haproxy_native.apply import live_values
from haproxy_native.apply.expected_changes import moves_now, unmoved
from haproxy_native.apply.live_values import Files
from haproxy_native.apply.moves import AGAIN, Moves, Values
from haproxy_native.beside import beside
from haproxy_native.commit.change import Change, Outcome
from haproxy_native.commit.of_transaction import change_of, is_overtaken
from haproxy_native.engine import Engine
from haproxy_native.errors import Conflict, Moved, NoTransaction

# Whether what came between is merged.
MERGES = "merges"


@dataclass(frozen=True)
class PlannedTransactions:
    engine: Engine

    async def options(self, id_: str) -> Mapping[str, Any]:
        """How one is committed: what has overtaken it is merged. Raises NoTransaction."""
        return {MERGES: await beside(is_overtaken, self.engine.context, id_)}

    async def moves(self, id_: str, options: Mapping[str, Any]) -> Moves | None:
        """What its commit changes now; None where it cannot be committed."""
        with suppress(Conflict):
            change = await change_of(self.engine.context, id_, self.engine.stores, merges=options[MERGES])
            return await beside(moves_now, self.engine, change)
        return None

    def files(self, id_: str) -> Files:
        """Returns the files that a transaction stages, by object."""
        staged, stores = self.engine.context.transactions.staged(id_).files, self.engine.stores
        return {file.object: (stores[file.store], path) for path, file in staged.items() if file.store in stores}

    async def carry_out(self, id_: str, options: Mapping[str, Any], moves: Moves, values: Values | None) -> Outcome:
        """`moves` and `values`: as they were when it was planned. Raises Moved with nothing changed, and what a commit raises."""

        def expected(change: Change) -> Change:
            verify = live_values.verifying(self.engine.runtime, values, self.files(id_))
            return replace(unmoved(change, moves, self.engine.context.current.path.name), verify=verify)

        try:
            _, outcome = await self.engine.commit_transaction(id_, merges=options[MERGES], expected=expected)
        except (Conflict, NoTransaction) as error:
            raise Moved(f"{error}; {AGAIN}") from error
        return outcome
