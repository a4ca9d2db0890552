"""The two kinds of collections: objects with names, and rows with an index.

`add`, `insert`, `del` and the like edit the document at once. Assignments to members of objects are written by `flush`.
"""

import difflib
from collections.abc import Iterator, Mapping, MutableMapping, MutableSequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, overload

from pydantic import BaseModel

from haproxy_native.editing.editor import Editor
from haproxy_native.editing.resources import Resource
from haproxy_native.errors import Missing, NoSuchObject
from haproxy_native.objects.bound import Bound, Children, Object, bound_type, check_object, new_object, object_of_file
from haproxy_native.text.document import Document

T = TypeVar("T", bound=Bound)
Parent = tuple[Resource, str] | None
Members = Mapping[str, Any] | BaseModel
REPLACED = "it has been deleted or replaced; read it again"


class Home(Protocol):
    """The owner of the document that collections read and edit."""

    text: Document
    editor: Editor
    refusal: str

    def children(self, section: Resource, name: str) -> Children: ...
    def flush(self) -> None: ...
    def forget(self, section: Resource, name: str) -> None: ...


class Snapshot:
    """An object that was read from the document, with the members that it had then."""

    def __init__(self, own: Bound, values: Object) -> None:
        self.own, self.values, self._before = own, values, own.as_object()

    def changed(self) -> Object | None:
        """Return the values to write if a member was assigned since the last call, otherwise None. Raises BadValue.

        Members that the model does not know keep their values.
        """
        members = self.own.as_object()
        if members == self._before:
            return None
        check_object(self.own)
        values = {name: value for name, value in self.values.items() if name in members or name not in self._before}
        values |= {name: value for name, value in members.items() if value != self._before.get(name)}
        self.values, self._before = values, members
        return values


class Collection(Generic[T]):
    """Base of the collections."""

    def __init__(self, home: Home, resource: Resource, parent: Parent) -> None:
        self._home, self._resource, self._parent = home, resource, parent
        self._kind = bound_type(resource)

    if TYPE_CHECKING:

        @property
        def add(self) -> type[T]:
            """Add an object with these members after the other objects, and return it. Raises Exists, UnknownMember and BadValue."""
    else:
        # For type checkers, `add` has the signature of the objects' class, so that they know its members.
        def add(self, **members: Any) -> T:
            """Add an object with these members after the other objects, and return it. Raises Exists, UnknownMember and BadValue."""
            return self._add(members)

    def _add(self, members: Mapping[str, Any]) -> T:
        raise NotImplementedError

    def _where(self, key: object) -> str:
        return f"{self._resource.schema} {key}{self._inside()}"

    def _inside(self) -> str:
        return f" of {self._parent[0].section} {self._parent[1]}" if self._parent else ""

    def _about(self) -> str:
        return self._resource.name + self._inside()

    def _edit(self, document: Document) -> None:
        self._home.text = document

    def _values(self, members: Members, where: str) -> Object:
        """Return the members after validation, by their names in the API. Raises UnknownMember and BadValue."""
        return new_object(self._kind, _as_mapping(members), where).as_object()

    def _read(self, values: Object, key: object) -> Snapshot:
        own = object_of_file(self._kind, values, self._where(key))
        own._refusal = self._home.refusal
        if self._resource.kind in ("section", "singleton"):
            own._children = self._home.children(self._resource, str(key) if self._resource.kind == "section" else "")
        return Snapshot(own, values)


def _as_mapping(members: Members) -> Mapping[str, Any]:
    return members.model_dump(by_alias=True, exclude_none=True) if isinstance(members, BaseModel) else members


class Named(Collection[T], MutableMapping[str, T]):
    """Objects by name: sections, servers, binds, users.

    `collection["name"]` returns an object with assignable attributes. `collection["name"] = {...}` creates or replaces an object,
    `add(name=..., ...)` creates one, and `del` deletes one. A missing name raises NoSuchObject, which is a KeyError.
    """

    def __init__(self, home: Home, resource: Resource, parent: Parent) -> None:
        super().__init__(home, resource, parent)
        self._loaded: dict[str, Snapshot] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._loaded:
            try:
                values = self._home.editor.get_object(self._home.text, self._resource, self._parent, name)
            except Missing as error:
                raise self._missing(name) from error
            self._loaded[name] = self._read(values, name)
        return self._loaded[name].own  # type: ignore[return-value]

    def __setitem__(self, name: str, members: Members) -> None:
        given = {self._resource.key: name, **_as_mapping(members)}
        if name not in self:
            self._add(given)
            return
        values = self._values(given, self._where(name))
        self._home.flush()
        self._edit(self._home.editor.replace(self._home.text, self._resource, self._parent, name, values))
        self._refuse_assignments_to(name)

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise self._missing(name)
        self._home.flush()
        self._edit(self._home.editor.delete(self._home.text, self._resource, self._parent, name))
        self._refuse_assignments_to(name)
        self._home.forget(self._resource, name)

    def __repr__(self) -> str:
        return f"<{self._about()}: {', '.join(self) or 'none'}>"

    def __iter__(self) -> Iterator[str]:
        objects = self._home.editor.list_objects(self._home.text, self._resource, self._parent)
        return iter(dict.fromkeys(str(object_[self._resource.key]) for object_ in objects))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        try:
            self._home.editor.get_object(self._home.text, self._resource, self._parent, name)
        except Missing:
            return False
        return True

    def _add(self, members: Mapping[str, Any]) -> T:
        name = str(members.get(self._resource.key, ""))
        values = self._values(members, self._where(name))
        self._home.flush()
        self._edit(self._home.editor.create(self._home.text, self._resource, self._parent, values))
        return self[name]

    def _refuse_assignments_to(self, name: str) -> None:
        if loaded := self._loaded.pop(name, None):
            loaded.own._refusal = REPLACED

    def freeze(self, why: str) -> None:
        """Refuse every later assignment to the objects that were read, for the reason `why`."""
        for loaded in self._loaded.values():
            loaded.own._refusal = why

    def _missing(self, name: str) -> NoSuchObject:
        near = difflib.get_close_matches(name, list(self), 1)
        return NoSuchObject(f"{self._where(name)} does not exist" + (f", did you mean {near[0]}?" if near else ""))

    def flush(self) -> None:
        """Write the assignments to objects into the document."""
        for name, loaded in self._loaded.items():
            if (values := loaded.changed()) is not None:
                self._edit(self._home.editor.replace(self._home.text, self._resource, self._parent, name, values))


class Rows(Collection[T], MutableSequence[T]):
    """Objects by index: rules, ACLs, filters, log targets. Lines that cannot be parsed as objects have no index, and are not changed.

    `add(type="deny", cond="if", cond_test="bad")` appends an object. `insert(0, {...})` and `rules[0] = {...}` take mappings.
    """

    def __init__(self, home: Home, resource: Resource, parent: Parent) -> None:
        super().__init__(home, resource, parent)
        self._rows: list[Snapshot] | None = None

    def _load(self) -> list[Snapshot]:
        if self._rows is None:
            objects = self._home.editor.list_objects(self._home.text, self._resource, self._parent)
            self._rows = [self._read(values, place) for place, values in enumerate(objects)]
        return self._rows

    def _place(self, index: int) -> int:
        """Convert the index of a row to its index among all lines of the kind, including lines that cannot be parsed.

        If `index` is past the last row, return the number of lines.
        """
        unread = set(self._home.editor.unparsed(self._home.text, self._resource, self._parent))
        total = len(self._load()) + len(unread)
        return [place for place in range(total + 1) if place not in unread][index] if index < len(self._load()) else total

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> MutableSequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | MutableSequence[T]:
        rows = [row.own for row in self._load()]
        return rows[index]  # type: ignore[return-value]

    def __setitem__(self, index: Any, members: Any) -> None:
        if isinstance(index, slice):
            rows: list[Any] = [row.own for row in self._load()]
            rows[index] = members
            all_values = [self._values(row, self._where(place)) for place, row in enumerate(rows)]
            self._home.flush()
            assert self._parent
            self._edit(self._home.editor.replace_all(self._home.text, self._resource, self._parent, all_values))
            self.freeze(REPLACED)
            self._rows = None
            return
        index = range(len(self))[index]
        values = self._values(members, self._where(index))
        self._home.flush()
        self._edit(self._home.editor.replace(self._home.text, self._resource, self._parent, self._place(index), values))
        self._load()[index].own._refusal = REPLACED
        self._load()[index] = self._read(values, index)

    def freeze(self, why: str) -> None:
        """Refuse every later assignment to the rows that were read, for the reason `why`."""
        for row in self._rows or ():
            row.own._refusal = why

    def __delitem__(self, index: int | slice) -> None:
        places = range(len(self))[index]
        self._home.flush()
        for place in sorted([places] if isinstance(places, int) else places, reverse=True):
            self._edit(self._home.editor.delete(self._home.text, self._resource, self._parent, self._place(place)))
            self._load().pop(place).own._refusal = REPLACED

    def __repr__(self) -> str:
        return f"<{self._about()}: {[row.own for row in self._load()]}>"

    def __len__(self) -> int:
        return len(self._load())

    def _add(self, members: Mapping[str, Any]) -> T:
        self.append(members)
        return self[-1]

    def append(self, value: T | Mapping[str, Any]) -> None:
        self.insert(len(self), value)

    def insert(self, index: int, value: T | Mapping[str, Any]) -> None:
        """Insert a new row before the row at `index`. Raises UnknownMember and BadValue."""
        index = slice(index, None).indices(len(self))[0]
        values = self._values(value, self._where(index))
        self._home.flush()
        place = self._place(index)
        self._edit(self._home.editor.create(self._home.text, self._resource, self._parent, values, index=place))
        self._load().insert(index, self._read(values, index))

    def flush(self) -> None:
        """Write the assignments to rows into the document."""
        for index, row in enumerate(self._rows or ()):
            if (values := row.changed()) is not None:
                self._edit(self._home.editor.replace(self._home.text, self._resource, self._parent, self._place(index), values))


class Single(Collection[Bound]):
    """A section that a configuration has only once, such as `global`."""

    def __init__(self, home: Home, resource: Resource) -> None:
        super().__init__(home, resource, None)
        self._loaded: Snapshot | None = None

    def get(self) -> Bound:
        """Return the section as an object. If the document lacks the section, the object is empty; an assignment creates the section."""
        if self._loaded is None:
            try:
                values = self._home.editor.get_object(self._home.text, self._resource, None, "")
            except Missing:
                values = {}
            self._loaded = self._read(values, "")
        return self._loaded.own

    def freeze(self, why: str) -> None:
        """Refuse every later assignment, for the reason `why`."""
        if self._loaded:
            self._loaded.own._refusal = why

    def flush(self) -> None:
        """Write the assignments to the object into the document."""
        if self._loaded and (values := self._loaded.changed()) is not None:
            self._edit(self._home.editor.replace(self._home.text, self._resource, None, "", values))
