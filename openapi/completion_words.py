"""Generate app/dataplaneapi/features/page/ui/words.js, the words that the page's editor completes, from the grammar and the table of
references.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from haproxy_native.editing.object_names import kind_of
from haproxy_native.editing.resources import Resource, resources
from haproxy_native.text.document import CONFIGURATION
from openapi.keywords import Declared

HEAD = """\
// Made by `make generate` of what the API declares; never edit it. What lines of sections begin with, as trees of words, by the sections
// that have them; options of lines; sections that the word behind another one names.
"""
# Lines whose options may come in any order, by the schema that declares them.
OPTIONS = {"bind": "bind", "server": "server"}


def module(document: Mapping[str, Any]) -> str:
    declared = Declared(document)
    sections = {
        resource.section: resource
        for resource in resources().by_name.values()
        if resource.section and not resource.file and not resource.parents
    }
    words = {
        # Also those that the API does not declare: what stands in them is no other section's.
        "sections": sorted(CONFIGURATION.kinds),
        "lines": _shared({section: _lines(declared.section(section)) for section in sections}),
        "options": {line: _lines(declared.options(schema)) for line, schema in OPTIONS.items()},
        "names": _names(document["x-references"]["kinds"], sections),
    }
    members = ",\n".join(f"  {json.dumps(name)}: {json.dumps(value, separators=(',', ':'))}" for name, value in words.items())
    return f"{HEAD}export default {{\n{members},\n}};\n"


def _lines(heads: Iterable[tuple[str, ...]]) -> list[str]:
    """Without what is glued to a word, as in `hdr(`."""
    return sorted({" ".join(head) for head in heads if head and not any("*" in word for word in head)})


def _shared(lines: Mapping[str, Iterable[str]]) -> list[tuple[list[str], Any]]:
    """Lines as trees, with the sections that have them; many have the same."""
    having: dict[str, list[str]] = defaultdict(list)
    for section in sorted(lines):
        for line in lines[section]:
            having[line].append(section)
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for line, sections in sorted(having.items()):
        groups[tuple(sections)].append(line)
    return [(list(sections), tree(group)) for sections, group in sorted(groups.items())]


def tree(lines: Iterable[str]) -> Any:
    """Return lines by their first word, with the tree of what may follow it.

    Words that nothing follows are one text, which stands under the empty word where something follows others.
    """
    following: dict[str, list[str]] = defaultdict(list)
    for line in lines:
        word, _, rest = line.partition(" ")
        following[word] += [rest] if rest else []
    ends, more = " ".join(word for word in following if not following[word]), {word: tree(rest) for word, rest in following.items() if rest}
    return ({"": ends} if ends else {}) | more if more else ends


def _names(kinds: Mapping[str, Any], sections: Mapping[str, Resource]) -> dict[str, list[str]]:
    """By the word before a name: the keywords of the sections that it may name."""
    keywords = {kind_of(resource): keyword for keyword, resource in sections.items()}
    names: dict[str, set[str]] = defaultdict(set)
    for kind, row in kinds.items():
        for pattern in row.get("lines", ()):
            *_, words, name = pattern.split()
            if kind in keywords and name == "<>":
                for word in words.split("|"):
                    names[word] |= {keywords[name] for name in (kind, *_those_that_are(kind, kinds)) if name in keywords}
    return {word: sorted(names[word]) for word in sorted(names)}


def _those_that_are(kind: str, kinds: Mapping[str, Any]) -> list[str]:
    return [name for name, row in kinds.items() if kind in row.get("is", ())]
