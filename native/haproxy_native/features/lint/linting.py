"""Lints the configuration of an engine together with the files that it names. Waits for the disk."""

import os
import posixpath
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from haproxy_native.beside import beside
from haproxy_native.editing.file_references import unreferenced
from haproxy_native.editing.object_names import spelled
from haproxy_native.engine import Engine
from haproxy_native.errors import Unusable
from haproxy_native.features.lint.finding import Finding
from haproxy_native.features.lint.gathering import BUNDLED, gather_facts
from haproxy_native.features.lint.lint import ConfigurationOrigin, findings
from haproxy_native.features.lint.view import Facts, FileFacts
from haproxy_native.text.document import Document


class Linting:
    """Lints the configuration of one engine. `used` are the backends that service discovery keeps up to date."""

    def __init__(self, engine: Engine, used: Iterable[str] = ()) -> None:
        self._engine, self._used = engine, frozenset(used)

    async def findings(self, transaction_id: str | None = None, may_read: Callable[[str], bool] | None = None) -> list[Finding]:
        """Return the findings whose objects the caller may all read. Raises NoTransaction."""
        document = self._engine.read(transaction_id)
        staged = self._engine.context.transactions.staged(transaction_id).files if transaction_id else {}
        findings_ = await beside(self._found, document, {str(path): file.is_there for path, file in staged.items()})
        return [finding for finding in findings_ if may_read is None or all(map(may_read, (finding.object, *finding.others)))]

    def _found(self, document: Document, staged: Mapping[str, bool]) -> list[Finding]:
        """Return all findings. `staged` are the files of the transaction, and whether each will exist; their content is not read."""
        main = os.path.abspath(self._engine.context.current.path)
        # A configuration may name any file, but clients can read stored ones only: no values of others are quoted.
        facts = gather_facts(document, posixpath.dirname(main), lambda path: bool(self._object_of(path)))
        changed = {path: FileFacts(exists) for path, exists in staged.items()}
        unused = self._unused(document, facts, posixpath.dirname(main))
        facts = replace(facts, files={**facts.files, **changed}, unused=unused, used_backends=self._used | facts.used_backends)
        return findings(document, facts, ConfigurationOrigin(main, self._object_of))

    def _unused(self, document: Document, facts: Facts, directory: str) -> list[str]:
        """Return the stored files that neither a line nor a list of certificates names."""
        paths = list[str]()
        for store in self._engine.stores.values():
            with suppress(Unusable):
                paths += [str(path) for path in store.files()]
        listed = {path for file in facts.files.values() for path in file.files}
        # A line names a certificate by its own name or by that of its bundle.
        named = {path: next((path.removesuffix(end) for end in BUNDLED if path.endswith(end)), path) for path in sorted(set(paths))}
        unnamed = set(unreferenced(document, [*named, *set(named.values())], directory))
        return [path for path, bundle in named.items() if {path, bundle} <= unnamed and path not in listed]

    def _object_of(self, path: str) -> str:
        store = self._engine.stores.of(Path(path))
        return spelled(store.kind, posixpath.basename(path)) if store else ""
