"""The objects of the API as pydantic models, one generated module for each schema, imported on first use.

All of them at once cost 0.4 s and 14 MB; a request needs few. Members carry their JSON names, unknown ones are ignored.
"""

import functools
import importlib
import re
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict
from pydantic_core import PydanticKnownError

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_Choice = TypeVar("_Choice")


def _whole(value: Any) -> Any:
    if value is not None and type(value) is not int:
        raise PydanticKnownError("int_type")
    return value


# A choice among integers; a bare Literal takes 1.0 and true for 1.
Whole = Annotated[_Choice, BeforeValidator(_whole)]


class Model(BaseModel):
    """Base of the generated models."""

    model_config = ConfigDict(extra="ignore", validate_by_alias=True, validate_by_name=False, protected_namespaces=())

    def __repr_args__(self) -> Any:
        return [(name, value) for name, value in super().__repr_args__() if value is not None]

    __str__ = BaseModel.__repr__


@functools.cache
def model(schema: str) -> type[BaseModel]:
    """The model of a schema of the document, such as `server` or `acls`; KeyError when there is none."""
    module = _HUMP.sub("_", schema).lower()
    name = "".join(part[:1].upper() + part[1:] for part in schema.split("_"))
    path = f"{__name__}.{module}"
    try:
        found = getattr(importlib.import_module(path), name, None)
    except ModuleNotFoundError as missing:
        if missing.name != path:
            raise
        found = None
    if found is None:
        raise KeyError(schema)
    return found  # type: ignore[no-any-return]
