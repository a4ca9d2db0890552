"""Check that everything in the document has a description that does not only repeat its name."""

import re
from collections.abc import Iterator
from typing import Any

from tests.openapi.documents import document

DOCUMENT = document(everything=True)
SCHEMAS = DOCUMENT["components"]["schemas"]
LONGEST = 160


def properties(schema: dict[str, Any], place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(place, schema) of all members, at any depth; what is referred to is looked at where it stands."""
    inner = [schema, *schema.get("allOf", ()), schema.get("items", {}), schema.get("additionalProperties", {})]
    for each in inner:
        for name, member in each.get("properties", {}).items() if isinstance(each, dict) else ():
            yield f"{place}.{name}", member
            yield from properties(member, f"{place}.{name}")


def described() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, schema in SCHEMAS.items():
        yield name, schema
        yield from properties(schema, name)
    yield from DOCUMENT["components"]["parameters"].items()
    for path, item in DOCUMENT["paths"].items():
        for method, operation in item.items():
            yield f"{method} {path}", operation
            for parameter in operation.get("parameters", ()):
                yield f"{method} {path} {parameter.get('name')}", parameter


ALL = [(place, each) for place, each in described() if "$ref" not in each]


def plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def test_all_of_the_document_was_looked_at():
    assert len(ALL) > 2000


def test_everything_has_a_description():
    assert [place for place, each in ALL if not each.get("description")] == []


def test_a_description_is_no_copy_of_the_name():
    assert [place for place, each in ALL if plain(each["description"]) == plain(place.rpartition(" ")[2].rpartition(".")[2])] == []


def test_a_description_is_a_short_sentence():
    wrong = [place for place, each in ALL if len(each["description"]) > LONGEST or not re.match(r"[A-Z].*\.$", each["description"])]
    assert wrong == []
