"""What is done to a SPOE file: as haproxy_native/changes/operations.py, of scopes and of what stands in them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from haproxy_native.editing.resources import Resource
from haproxy_native.spoe.editor import ScopeEditor
from haproxy_native.text.document import Document


@dataclass(frozen=True)
class CreateScope:
    """Adds an empty scope, whose name stands in brackets."""

    editor: ScopeEditor
    name: str
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        return self.editor.create_scope(document, self.name)


@dataclass(frozen=True)
class DeleteScope:
    """Takes a scope away, with what stands in it."""

    editor: ScopeEditor
    name: str
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        return self.editor.delete_scope(document, self.name)


@dataclass(frozen=True)
class CreateInScope:
    """Adds an agent, a group or a message to a scope."""

    editor: ScopeEditor
    scope: str
    resource: Resource
    body: Mapping[str, Any]
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        return self.editor.create(document, self.scope, self.resource, self.body)


@dataclass(frozen=True)
class ReplaceInScope:
    """Gives an agent, a group or a message the members of `body`, and no others."""

    editor: ScopeEditor
    scope: str
    resource: Resource
    name: str
    body: Mapping[str, Any]
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        return self.editor.replace(document, self.scope, self.resource, self.name, self.body)


@dataclass(frozen=True)
class DeleteInScope:
    """Takes an agent, a group or a message away."""

    editor: ScopeEditor
    scope: str
    resource: Resource
    name: str
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        return self.editor.delete(document, self.scope, self.resource, self.name)
