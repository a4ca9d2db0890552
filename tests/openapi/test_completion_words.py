"""Generate the words that the editor of the page completes."""

import json
import re
from typing import Any

from openapi import bundle, completion_words


def words() -> dict[str, Any]:
    text = completion_words.module(bundle.document())
    members = re.sub(r",\n}$", "\n}", text.partition("export default ")[2].removesuffix(";\n"))
    return dict(json.loads(members))


def test_lines_stand_with_the_sections_that_have_them() -> None:
    made = words()
    lines = {line: sections for sections, tree in made["lines"] for line in lines_of(tree)}
    assert lines["use_backend"] == ["frontend", "listen"] and "backend" in lines["balance roundrobin"]
    assert {"defaults", "global", "program"} <= set(made["sections"]) and not {"server", "spoe-agent"} & set(made["sections"])
    assert not [line for line in lines if "*" in line]


def lines_of(tree: Any) -> list[str]:
    if isinstance(tree, str):
        return tree.split(" ") if tree else []
    return [f"{word} {rest}".strip() for word, following in tree.items() for rest in lines_of(following)]


def test_options_and_names() -> None:
    made = words()
    assert "weight" in made["options"]["server"] and "ssl" in made["options"]["bind"]
    assert made["names"]["default_backend"] == ["backend", "listen"]
    assert not [word for word in made["names"] if "|" in word]
