"""Generate request bodies that a schema allows, and bodies with one wrong member each. The same seed generates the same bodies."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from dataplaneapi.api.normalize import ResolvedSchemas
from haproxy_native.grammar.schema import name_of

Schema = Mapping[str, Any]
# Texts that break programs which read or write files: quotes, comments, ends of blocks, other alphabets, words that look like numbers.
WORDS = (
    'a b c1 X-Name 10.0.0.1 0 7 0x1F 10s 64k if unless { } ( , -1 /a/b.map %[src] str(x) a@b https://ca.example/dir "two_words" \'one'
    ' ${VAR} "${VAR}" # a#b \\ back\\ slash é 日本 🙂 a:80 [::1]:443 unix@/run/x.sock x,y,z a=b no - -- TLSv1.2 allow-dup-ip'
)
TEXTS = [
    *WORDS.split(" "),
    "random",
    "2026-11-27-1",
    "10m",
    "two words",
    "{ path /x }",
    "a  b\tc",
    '"open quote',
    "trailing\\",
    " ",
    "x" * 3000,
    "word " * 500,
]
NUMBERS = (0, 1, 2, 80, 200, 404, 65535, 65536, 1 << 31, (1 << 63) - 1)
WRONG_TYPE = {"string": 7, "integer": "seven", "number": "seven", "boolean": "yes", "array": "none", "object": "none"}
# At this depth and below, objects have only their required members.
DEEP = 3


@dataclass(frozen=True)
class Mutant:
    """A body that the server must refuse. The message must name the path `member`; empty if the whole body is wrong."""

    body: Any
    member: str
    what: str


class Bodies:
    """Generates bodies from one random generator, so that a run can be repeated."""

    def __init__(self, components: Mapping[str, Schema], random: Random) -> None:
        self._components, self.schemas, self._random = components, ResolvedSchemas(components), random

    def valid(self, schema: Schema, depth: int = 0) -> Any:
        """Return a value that the schema allows. HAProxy may still refuse the value."""
        resolved = {**self.schemas.resolve(schema), **{key: value for key, value in schema.items() if key != "$ref"}}
        kind = self.schemas.kind(schema)
        if "enum" in resolved:
            return self._random.choice(resolved["enum"])
        if kind == "array":
            return [self.valid(resolved["items"], depth + 1) for _ in range(self._random.randrange(resolved.get("minItems", 0), 4))]
        if kind == "object" and "properties" in resolved:
            return self._object(resolved, self.required(schema), depth)
        if kind == "object":
            inner = resolved.get("additionalProperties")
            return {self.text({}): self.valid(inner if isinstance(inner, dict) else {"type": "string"}, depth + 1) for _ in range(2)}
        if kind == "boolean":
            return self._random.random() < 0.7
        return self._number(resolved) if kind in ("integer", "number") else self.text(resolved)

    def _object(self, schema: Schema, required: set[str], depth: int) -> dict[str, Any]:
        wanted = self._random.choice((0.05, 0.3, 1.0)) if depth < DEEP else 0.0
        needed = required | set(list(schema["properties"])[: schema.get("minProperties", 0)])
        made = {
            name: self.valid(inner, depth + 1)
            for name, inner in schema["properties"].items()
            if name in needed or self._random.random() < wanted
        }
        return {name: value for name, value in made.items() if not _is_half_a_condition(name, made)}

    def required(self, schema: Schema) -> set[str]:
        """Return the members that the schema, or a schema in its `allOf`, requires."""
        if name := name_of(schema):
            return self.required(self._components[name])
        return set(schema.get("required", ())).union(*map(self.required, schema.get("allOf", ())))

    def _number(self, schema: Schema) -> int:
        low, high = int(schema.get("minimum", 0)), int(schema.get("maximum", (1 << 63) - 1))
        return self._random.choice([low, min(low + 1, high), *(number for number in NUMBERS if low <= number <= high)])

    def text(self, schema: Schema) -> str:
        fitting = [text for text in TEXTS if fits(text, schema)] if "enum" in schema else _texts_of(schema.get("pattern", ""))
        assert fitting, f"no text at hand fits {schema}"
        return self._random.choice(fitting)

    def mutants(self, schema: Schema) -> Iterator[Mutant]:
        """Yield the smallest body with each possible mistake in turn: in the whole body, and in each member."""
        body, kind = self.valid(schema, DEEP), self.schemas.kind(schema)
        yield Mutant(None, "", "null")
        yield Mutant([] if kind == "object" else {}, "", "wrong outermost type")
        yield Mutant(b"{", "", "no JSON")
        yield Mutant(b"[" * 100_000, "", "too deep")
        if kind != "object":
            return
        resolved = self.schemas.resolve(schema)
        for name in sorted(self.required(schema)):
            yield Mutant({key: value for key, value in body.items() if key != name}, name, "missing")
        for name, inner in resolved.get("properties", {}).items():
            for wrong, what in self._wrong(inner):
                if what == "line break" and (inner.get("x-lines") or inner.get("x-haproxy", {}).get("escaped")):
                    continue
                yield Mutant({**body, name: wrong}, name, what)

    def _wrong(self, schema: Schema) -> Iterator[tuple[Any, str]]:
        declared, kind = self.schemas.resolve(schema), self.schemas.kind(schema)
        if kind in WRONG_TYPE:
            # A duration may also be a number of seconds.
            yield ([] if declared.get("x-seconds") else WRONG_TYPE[kind]), "wrong type"
        if kind == "string":
            yield "a\nserver evil 10.0.0.1", "line break"
            yield "a\0b", "NUL"
            yield "\ud800", "an unpaired surrogate"
        if kind == "integer":
            yield 1 << 64, "too large an integer"
            yield 1.5, "a fraction"
        if "enum" in declared:
            yield "nosuch" if kind == "string" else 123456, "not in the enum"
        if "maximum" in declared:
            yield declared["maximum"] + 1, "over the maximum"
        if "minimum" in declared:
            # A member that does not allow 0 treats 0 as absent.
            yield declared["minimum"] - 1 or -1, "below the minimum"
        if "pattern" in declared and (bad := next((text for text in TEXTS if not fits(text, declared)), None)):
            yield bad, "against the pattern"


def _is_half_a_condition(name: str, made: Mapping[str, Any]) -> bool:
    """Return whether `name` is one of the two members of a condition, and the other is missing. The schema cannot express this."""
    other = name.removesuffix("_test") if name.endswith("cond_test") else f"{name}_test" if name.endswith("cond") else name
    return other not in made


def fits(text: str, schema: Schema) -> bool:
    return text in schema["enum"] if "enum" in schema else _matches(text, schema.get("pattern", ""))


@cache
def _texts_of(pattern: str) -> list[str]:
    return [text for text in TEXTS if _matches(text, pattern)]


def _matches(text: str, pattern: str) -> bool:
    return re.search(re.sub(r"\$$", r"\\Z", pattern), text, re.ASCII) is not None
