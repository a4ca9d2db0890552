"""Build the shapes of lines and sections from the bundled OpenAPI document, each on first use (`Grammar`)."""

import functools
import itertools
import json
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from haproxy_native.grammar.directive import Directive
from haproxy_native.grammar.line_shape import METADATA, Alias, Alternative, LineShape
from haproxy_native.grammar.notation import Compiler, join_of
from haproxy_native.grammar.schema import Order, Schema, Schemas, has_no_value, keyword_of
from haproxy_native.grammar.section_shape import Default, ListAlias, SectionShape
from haproxy_native.grammar.synopsis import Chain

# The keys of a note that do not describe how a line is written.
WORDS = ("addition", "keeps", "last_counts")
BUNDLE = Path(__file__).parents[1] / "generated" / "dataplane.json"


@functools.cache
def bundle() -> Mapping[str, Any]:
    """Return the OpenAPI document of the API, with the notes that describe the language of the configuration."""
    document: Mapping[str, Any] = json.loads(BUNDLE.read_bytes())
    return document


class Grammar:
    """The syntax of all kinds of lines and sections, each built on first use. `time_suffix`: the unit in which new times are written."""

    def __init__(self, document: Mapping[str, Any] | None = None, *, time_suffix: str = "nearest") -> None:
        self.schemas, self.time_suffix = Schemas(document or bundle()), time_suffix
        self._lines: dict[str, LineShape] = {}
        self._sections: dict[tuple[str, frozenset[str]], SectionShape] = {}

    def line(self, name: str) -> LineShape:
        """Return the shape of a schema whose objects are lines: `server`, `acl`, `http_request_rule`, ..."""
        if name not in self._lines:
            schema = self.schemas.named(name)
            self._lines[name] = self.shape(self.schemas.properties(schema), self.schemas.note(schema), self.schemas.required(schema))
        return self._lines[name]

    def section(self, name: str, embedded: Iterable[str] = ()) -> SectionShape:
        """Return the shape of a schema whose objects are sections, without the members `embedded`, which contain children."""
        left_out = frozenset(embedded)
        key = name, left_out
        if key not in self._sections:
            self._sections[key] = self._section(name, lambda member: member not in left_out)
        return self._sections[key]

    def members(self, name: str, members: Container[str]) -> SectionShape:
        """Build the shape of a section with only the members in `members`. This is much faster than building the whole shape."""
        return self._section(name, members.__contains__)

    def _section(self, name: str, has: Callable[[str], bool]) -> SectionShape:
        schema = self.schemas.named(name)
        properties = {member: schema for member, schema in self.schemas.properties(schema).items() if has(member)}
        note = self.schemas.note(schema)
        header = self.shape(properties, {"line": note["header"]})
        # The metadata of a section is in the comment of its header.
        others = {n: s for n, s in properties.items() if n != METADATA}
        inner = {n: s for n, s in others.items() if n not in header.members}
        families: list[Directive] = []
        for family in note.get("families", ()):
            shape = self.shape(others, family)
            unwritten = dict.fromkeys(shape.chosen_by, (None,))
            families.append(Directive((), shape, family.get("repeat", "last"), unwritten=unwritten, needed=family.get("needed", "")))
        in_families = {member for family in families for member in family.shape.members}
        directives = [*self._directives((), inner, in_families), *families]
        if note.get("by_keyword"):
            # In HAProxy's manual, the keywords are sorted by their words without dashes.
            directives.sort(key=lambda directive: " ".join(directive.shape.alternatives[0].literals).replace("-", ""))
        list_aliases: list[ListAlias] = []
        for member, schema in properties.items():
            target = self.schemas.note(schema).get("alias_of")
            if target and schema.get("type") == "object":
                list_aliases.append(ListAlias(member, target))
        return SectionShape(
            note["header"].split()[0],
            header,
            directives,
            list(properties),
            list_aliases,
            list(self._defaults((), properties)),
            self._inner(properties),
        )

    # -- lines

    def shape(self, properties: Mapping[str, Schema], note: Mapping[str, Any], needed: Sequence[str] = ()) -> LineShape:
        """Build the shape of a line from the schemas of its members and the note with its synopses."""
        compiler = Compiler(self.schemas, properties, time_suffix=self.time_suffix)
        chosen_by = note.get("chosen_by", ())
        chosen_by = (chosen_by,) if isinstance(chosen_by, str) else tuple(chosen_by)
        alternatives = [Alternative(compiler.chain(text), fixed, text) for fixed, text in _synopses(note, chosen_by, properties)]
        if toggle := note.get("toggle"):
            is_flag = properties[toggle].get("type") == "boolean"
            alternatives = [
                Alternative(alternative.chain, {toggle: is_flag or "enabled"}, alternative.text) for alternative in alternatives
            ]
            if not is_flag and note.get("no") != "none":
                negated = "no " + " ".join(alternatives[0].literals)
                alternatives.append(Alternative(compiler.chain(negated), {toggle: "disabled"}, negated))
        return LineShape(
            alternatives,
            list(properties),
            chosen_by=chosen_by,
            aliases=self._aliases(properties),
            metadata=METADATA in properties and not self.schemas.note(properties[METADATA]).get("ignored"),
            needed=needed,
            together=note.get("together", ()),
            exclusive=note.get("exclusive", ()),
            implied=note.get("implied", {}),
            unsaid=self._noted("unsaid", properties),
            absent=self._noted("absent", properties),
            inner=self._inner(properties),
            secrets=self._secrets(compiler, alternatives),
        )

    @staticmethod
    def _secrets(compiler: Compiler, alternatives: Sequence[Alternative]) -> dict[str, Any]:
        """Return the value of `x-secret` for each member that has it, by dotted name."""
        members = {member for alternative in alternatives for member in alternative.chain.members}
        rows = {row for member in members if (row := member.split(".")[0]) in compiler.properties}
        inner: set[str] = set()
        for row in rows:
            schema = compiler.properties[row]
            element = compiler.schemas.resolve(schema["items"]) if schema.get("type") == "array" else schema
            inner |= {f"{row}.{name}" for name in compiler.schemas.properties(element)}
        kinds = {member: _secret(compiler, member) for member in (members | inner) if member.split(".")[0] in compiler.properties}
        return {member: kind for member, kind in kinds.items() if kind}

    def _inner(self, properties: Mapping[str, Schema]) -> Order:
        """Return the order of the members of each inner object."""
        orders = {name: self.schemas.order(property_) for name, property_ in properties.items() if name != METADATA}
        return {name: order for name, order in orders.items() if order}

    def _noted(self, word: str, properties: Mapping[str, Schema]) -> dict[str, Any]:
        """Return, by member, the value of the key `word` in the note of the member. Members whose note lacks the key are skipped."""
        notes = {name: self.schemas.note(property_) for name, property_ in properties.items()}
        return {name: note[word] for name, note in notes.items() if word in note}

    def _aliases(self, properties: Mapping[str, Schema]) -> list[Alias]:
        aliases = []
        for name, schema in properties.items():
            note = self.schemas.note(schema)
            target = note.get("alias_of")
            if target and schema.get("type") != "object":
                pairs = note.get("values") or {value: value for value in schema.get("enum", ())}
                typed = {(word == "true" if schema.get("type") == "boolean" else word): value for word, value in pairs.items()}
                aliases.append(Alias(name, target, typed or None, note.get("where", {}), note.get("write_only", False)))
        return aliases

    def _defaults(self, path: tuple[str, ...], properties: Mapping[str, Schema]) -> Iterable[Default]:
        for name, schema in properties.items():
            if schema.get("type") == "object":
                yield from self._defaults((*path, name), self.schemas.properties(schema))
            elif "default" in schema:
                yield Default(path, name, schema["default"])

    # -- sections

    def _directives(self, path: tuple[str, ...], properties: Mapping[str, Schema], in_families: set[str]) -> list[Directive]:
        """Return the directives of the object at `path`, in the order of `properties`. `in_families`: members without a directive here."""
        with_synopsis: dict[str, Directive] = {}
        expressed = set(in_families)
        for name, schema in properties.items():
            note = self.schemas.note(self.schemas.resolve(schema["items"]) if schema.get("type") == "array" else schema)
            if name in in_families or note.get("ignored") or "alias_of" in note or not ("line" in note or "lines" in note):
                continue
            directive = with_synopsis[name] = self._with_synopsis(path, name, schema, properties)
            if directive.path == path and not directive.rows:
                expressed.update(directive.shape.members)
        directives: list[Directive] = []
        for name, schema in properties.items():
            own = [with_synopsis[name]] if name in with_synopsis else []
            if not own and name not in expressed and name != METADATA:
                own = self._without_synopsis(path, name, schema)
            fields = {word: value for word, value in self.schemas.note(schema).items() if word in WORDS}
            directives += [replace(directive, **fields) for directive in own] if fields else own
        return directives

    def _with_synopsis(self, path: tuple[str, ...], name: str, schema: Schema, siblings: Mapping[str, Schema]) -> Directive:
        note = self.schemas.note(schema)
        kind = schema.get("type")
        if kind == "array":
            items = self.schemas.resolve(schema["items"])
            shape = self.shape(self.schemas.properties(items), {**self.schemas.note(items), **note})
            return Directive(path, shape, "append", rows=name)
        if kind == "object" or "allOf" in schema:
            shape = self.shape(self.schemas.properties(schema), note)
            silent = {note["toggle"]: ("disabled",)} if note.get("no") == "none" and "toggle" in note else None
            return Directive(
                (*path, name),
                shape,
                note.get("repeat", "last"),
                unwritten=silent,
                options=note.get("repeat") == "merge" and not shape.required(),
                ahead_of=note.get("ahead_of", ()),
            )
        unwritten = {note["toggle"]: (None, False)} if "toggle" in note else None
        return Directive(path, self.shape(siblings, note), note.get("repeat", "last"), unwritten=unwritten)

    def _without_synopsis(self, path: tuple[str, ...], name: str, schema: Schema) -> list[Directive]:
        note = self.schemas.note(schema)
        if note.get("ignored") or "alias_of" in note:
            return []
        if "codec" in note:
            compiler = Compiler(self.schemas, {name: schema})
            return [Directive(path, _shape_of_member(compiler.coded(name, note), name, note, compiler))]
        if schema.get("type") == "object":
            return self._directives((*path, name), self.schemas.properties(schema), set())
        if has_no_value(schema, note):
            # A flag or a switch has one alternative for each value that is written as a line.
            compiler = Compiler(self.schemas, {name: schema}, no="prefix", time_suffix=self.time_suffix)
            words = compiler.toggle(name, schema, note).words
            alternatives = [Alternative(compiler.chain(" ".join(own)), {name: value}, " ".join(own)) for value, own in words.items() if own]
            silent = tuple(value for value in (True, False, "enabled", "disabled") if not words.get(value))
            return [Directive(path, LineShape(alternatives, [name]), unwritten={name: silent})]
        if schema.get("type") == "array" and note.get("repeat") == "append":
            element = self.schemas.resolve(schema["items"])
            compiler = Compiler(self.schemas, {name: element}, time_suffix=self.time_suffix)
            chain = compiler.argument(name, element, note)
            return [Directive(path, _shape_of_member(chain, name, note, compiler), "append", rows=name, scalar=True)]
        compiler = Compiler(self.schemas, {name: schema}, time_suffix=self.time_suffix)
        shape = _shape_of_member(compiler.argument(name, schema, note), name, note, compiler)
        return [Directive(path, shape, note.get("repeat", "last"), join_of(note))]


def _shape_of_member(chain: Chain, name: str, note: Mapping[str, Any], compiler: Compiler) -> LineShape:
    kind = _secret(compiler, name)
    return LineShape([Alternative(chain, {}, keyword_of(name, note))], [name], secrets={name: kind} if kind else {})


def _secret(compiler: Compiler, member: str) -> Any:
    """Return the `x-secret` of a member, or that of its elements if the member is a list without `x-secret`; None if both lack it."""
    schema = compiler.property(member)
    return schema.get("x-secret") or compiler.schemas.resolve(schema.get("items", {})).get("x-secret")


def _synopses(note: Mapping[str, Any], chosen_by: Sequence[str], properties: Mapping[str, Schema]) -> Iterable[tuple[dict[str, Any], str]]:
    """Yield (values of the members that select the alternative, synopsis) of each alternative that a note declares."""
    keyword, tail = note.get("keyword", ""), note.get("tail", "")
    lines = note.get("lines", note.get("line"))
    if not isinstance(lines, Mapping):
        for text in lines if isinstance(lines, list) else [lines]:
            yield {}, " ".join(f"{keyword} {text} {tail}".split())
        return
    for key, texts in lines.items():
        # A key such as `a|b c` stands for `a c` and `b c`.
        for words in itertools.product(*(word.split("|") for word in key.split())):
            parts = " ".join(words).split(" ", len(chosen_by) - 1) if chosen_by else ()
            fixed = {
                member: int(part) if properties[member].get("type") == "integer" else part
                for member, part in zip(chosen_by, parts, strict=False)
            }
            for text in texts if isinstance(texts, list) else [texts]:
                spelled_out = text
                for member, word in zip(chosen_by, words, strict=False):
                    spelled_out = spelled_out.replace(f"<{member}>", word)
                yield fixed, " ".join(f"{keyword} {spelled_out} {tail}".split())


@functools.cache
def grammar() -> Grammar:
    """Return the grammar of the bundled document. A new time is written in the largest unit that divides the time."""
    return Grammar()
