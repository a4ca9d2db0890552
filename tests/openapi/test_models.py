"""Prepare the input of the generator of models, and change the generated modules."""

import ast

from openapi.models import models


def made(schemas: dict) -> dict[str, str]:
    return models({"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "components": {"schemas": schemas}})


def test_one_module_for_each_schema_without_notes():
    note = {"x-haproxy": {"keyword": "w"}, "description": "d"}
    files = made(
        {
            "thing": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string", **note}, "part": {"$ref": "#/components/schemas/part", **note}},
            },
            "part": {
                "type": "object",
                "properties": {"x-haproxy": {"type": "string"}, "code": {"type": "integer", "enum": [1, 2], **note}},
                **note,
            },
        }
    )
    assert sorted(files) == ["part.py", "thing.py"]
    assert all(ast.parse(text) for text in files.values())
    assert "code: Whole[Literal[1, 2]] | None = None" in files["part.py"]
    assert "alias='x-haproxy'" in files["part.py"]
    assert "part: part_1.Part | None = None" in files["thing.py"]


def test_descriptions_stand_behind_members_with_their_units():
    duration = {"type": "integer", "x-duration": True, "x-default-unit": "ms"}
    text = made(
        {
            "thing": {
                "type": "object",
                "description": 'A thing\'s "line" \\ more.',
                "properties": {
                    "inter": {**duration, "description": "Milliseconds between two."},
                    "wait": {**duration, "description": "How long it waits."},
                    "size": {"type": "integer", "x-size": True, "description": "Of the buffer."},
                    "description": {"type": "string", "description": "What it is."},
                },
            }
        }
    )["thing.py"]
    thing = next(node for node in ast.parse(text).body if isinstance(node, ast.ClassDef))
    assert ast.get_docstring(thing) == 'A thing\'s "line" \\ more.'
    docstrings = [node.value.value for node in thing.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    assert docstrings[1:] == ["Milliseconds between two.", "How long it waits. In milliseconds.", "Of the buffer. In bytes.", "What it is."]
