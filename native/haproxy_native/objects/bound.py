"""The generated models as objects of a configuration. Assignments are validated; the error for an unknown member suggests a known one.

Members have the names of the API. In attributes, `-` becomes `_`: the member `check-ssl` is the attribute `check_ssl`.
"""

import difflib
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import ConfigDict, PrivateAttr, ValidationError

from haproxy_native.editing.resources import Resource, resources
from haproxy_native.errors import BadValue, Place, ReadOnly, UnknownMember
from haproxy_native.grammar.load import grammar
from haproxy_native.grammar.schema import Schema
from haproxy_native.models import Model, model

STRICT = ConfigDict(extra="forbid", validate_assignment=True, validate_by_alias=True, validate_by_name=True)
Object = dict[str, Any]
# Returns the collection of a section's children of one resource.
Children = Callable[[Resource], object]


class Bound(Model):
    """Base of the objects of a configuration. `_where` names the object in errors. If `_refusal` is set, assignments raise ReadOnly."""

    _schema: ClassVar[str] = ""
    _where: str = PrivateAttr(default="")
    _refusal: str = PrivateAttr(default="")
    _children: Children | None = PrivateAttr(default=None)

    if not TYPE_CHECKING:
        # Type checkers know the members of each class.
        def __setattr__(self, name: str, value: Any) -> None:
            if name.startswith("_"):
                return super().__setattr__(name, value)
            if self._refusal:
                raise ReadOnly(f"{self._where}: {self._refusal}")
            cls = type(self)
            if name not in cls.model_fields:
                raise _unknown(self._where, name, cls.model_fields)
            refuse_unknown(self._where, {name: value}, {name: _properties(cls)[cls.model_fields[name].alias or name]})
            try:
                super().__setattr__(name, value)
            except ValidationError as error:
                raise validation_error(self._where, error) from None

    def as_object(self) -> Object:
        """Return the members that are set, by their names in the API. An empty list counts as not set."""
        return {name: value for name, value in self.model_dump(by_alias=True, exclude_none=True).items() if value != []}

    def collection(self, resource: Resource) -> object:
        """Return the collection of the section's children that belong to a resource."""
        assert self._children
        return self._children(resource)


@functools.cache
def bound_type(resource: Resource) -> type[Bound]:
    """Return the class of a resource's objects. The class of a section also has an attribute for each collection of its children."""
    try:
        # The model without the members that contain children.
        parent = model(f"{resource.schema}_base")
    except KeyError:
        parent = model(resource.schema)
    namespace: dict[str, Any] = {"__module__": __name__, "__doc__": parent.__doc__, "model_config": STRICT}
    for child in children_of(resource):
        namespace[child.name] = property(functools.partial(Bound.collection, resource=child), doc=f"The {child.title} objects of it.")
    made_of: Any = type(Bound)
    kind: type[Bound] = made_of(parent.__name__.removesuffix("Base"), (Bound, parent), namespace)
    kind._schema = resource.schema
    return kind


def children_of(resource: Resource) -> list[Resource]:
    """Return the resources whose objects are inside the sections of a resource."""
    return [child for child in resources().by_name.values() if resource.name in child.parents and child.kind in ("named", "indexed")]


def new_object(kind: type[Bound], values: Mapping[str, Any], where: str) -> Bound:
    """Return a new object with these values. Raises UnknownMember and BadValue."""
    by_member = _properties(kind)
    by_attribute = {attribute: by_member[field.alias or attribute] for attribute, field in kind.model_fields.items()}
    refuse_unknown(where, values, {**by_member, **by_attribute})
    try:
        object_ = kind.model_validate(dict(values))
    except ValidationError as error:
        raise validation_error(where, error) from None
    object_._where = where
    return object_


def object_of_file(kind: type[Bound], values: Mapping[str, Any], where: str) -> Bound:
    """Return an object with values that were read from a file. If the schema does not allow one of the values, no value is validated."""
    try:
        object_ = kind.model_validate(dict(values))
    except ValidationError:
        object_ = kind.model_construct(**values)
    object_._where = where
    return object_


def check_object(own: Bound) -> None:
    """Raise BadValue if an object is invalid. Assignments inside a list or an inner object are validated only here."""
    try:
        type(own).model_validate(own.as_object())
    except ValidationError as error:
        raise validation_error(own._where, error) from None


def validation_error(where: str, error: ValidationError) -> BadValue:
    """Return an error with all violations that pydantic has found. The place of the error is the member of the first violation."""
    violations = [(".".join(map(str, detail["loc"])), detail["msg"]) for detail in error.errors(include_url=False)]
    return BadValue(f"{where}: " + "; ".join(f"{member}: {text}" for member, text in violations), place=Place(member=violations[0][0]))


def refuse_unknown(where: str, values: Any, properties: Mapping[str, Schema]) -> None:
    """Raise UnknownMember if `values` has a member that is not in `properties`, or an inner object has one that is not in its schema."""
    schemas = grammar().schemas
    for name, value in values.items():
        if name not in properties:
            raise _unknown(where, name, properties)
        schema = schemas.resolve(properties[name])
        inner = schemas.properties(schemas.resolve(schema["items"]) if schema.get("type") == "array" else schema)
        if inner:
            for element in value if isinstance(value, list) else [value]:
                if isinstance(element, Mapping):
                    refuse_unknown(f"{where}: {name}", element, {**inner} | {key.replace("-", "_"): own for key, own in inner.items()})


def _unknown(where: str, name: str, known: Iterable[str]) -> UnknownMember:
    near = difflib.get_close_matches(name, list(known), 1)
    meant = f", did you mean {near[0]}?" if near else ""
    return UnknownMember(f"{where} has no member {name}{meant}", place=Place(member=name))


@functools.cache
def _properties(kind: type[Bound]) -> dict[str, Schema]:
    """Return the schemas of a model's members, by their names in the API."""
    schemas = grammar().schemas
    properties = schemas.properties(schemas.named(kind._schema))
    return {field.alias or name: properties[field.alias or name] for name, field in kind.model_fields.items()}
