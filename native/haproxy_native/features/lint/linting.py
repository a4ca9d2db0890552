"""`Linting`: the checks over the configuration of an engine, with the files that it names."""

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
from haproxy_native.features.lint.facts import Facts, File
from haproxy_native.features.lint.finding import Finding
from haproxy_native.features.lint.gathering import gathered
from haproxy_native.features.lint.lint import Origin, findings
from haproxy_native.text.document import Document

# HAProxy loads `site.pem.rsa` and its like where a line names `site.pem` (HAProxy Configuration Manual, section 5.1, crt).
BUNDLED = (".rsa", ".ecdsa", ".dsa")


def _bundle(path: str) -> str:
    """Return the name by which a line may name a certificate: that of its bundle, or its own."""
    return next((path.removesuffix(end) for end in BUNDLED if path.endswith(end)), path)


class Linting:
    """Lints the configuration of one engine. `used`: names of backends that service discovery keeps up to date."""

    def __init__(self, engine: Engine, used: Iterable[str] = ()) -> None:
        self._engine, self._used = engine, frozenset(used)

    async def findings(self, transaction_id: str | None = None, may_read: Callable[[str], bool] | None = None) -> list[Finding]:
        """Returns the findings of which the caller may read every named object. Raises NoTransaction."""
        document = self._engine.read(transaction_id)
        staged = self._engine.context.transactions.staged(transaction_id).files if transaction_id else {}
        findings_ = await beside(self._found, document, {str(path): file.is_there for path, file in staged.items()})
        return [finding for finding in findings_ if may_read is None or all(map(may_read, (finding.object, *finding.others)))]

    def _found(self, document: Document, staged: Mapping[str, bool]) -> list[Finding]:
        """`staged`: the files that are changed with it, and whether each will be there; what it will hold is not looked at."""
        main = os.path.abspath(self._engine.context.current.path)
        # A configuration may name any file: values of those that no client could read are not quoted.
        facts = gathered(document, posixpath.dirname(main), lambda path: bool(self._object_of(path)))
        coming = {path: File(is_there) for path, is_there in staged.items()}
        unused = self._unused(document, facts, posixpath.dirname(main))
        facts = replace(facts, files={**facts.files, **coming}, unused=unused, used_backends=self._used | facts.used_backends)
        return findings(document, facts, Origin(main, self._object_of))

    def _unused(self, document: Document, facts: Facts, directory: str) -> list[str]:
        """Return the stored files that neither a line nor a list of certificates names."""
        paths = list[str]()
        for store in self._engine.stores.values():
            with suppress(Unusable):
                paths += [str(path) for path in store.files()]
        listed = {path for file in facts.files.values() for path in file.files}
        named = {path: _bundle(path) for path in sorted(set(paths))}
        unnamed = set(unreferenced(document, [*named, *set(named.values())], directory))
        return [path for path, bundle in named.items() if {path, bundle} <= unnamed and path not in listed]

    def _object_of(self, path: str) -> str:
        store = self._engine.stores.of(Path(path))
        return spelled(store.kind, posixpath.basename(path)) if store else ""
