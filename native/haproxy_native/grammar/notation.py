"""Compile synopses to chains of nodes. For a property without a synopsis, the type determines the nodes."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from haproxy_native.grammar.codecs import CODECS
from haproxy_native.grammar.schema import Schema, Schemas, has_no_value, is_switch, keyword_of
from haproxy_native.grammar.synopsis import Chain, Glued, Group, Join, Literal, Node, Options, Placeholder, Rest, Toggle
from haproxy_native.grammar.values import Choice, type_of

_TOKEN = re.compile(r"\]\*|[\[\]]|[^\s\[\]]+")
_BEGINS, _ENDS = ("[", "("), ("]", "]*", ")")
_PLACE = re.compile(r"<([^<>]+)>")
CONDITION = "[ <cond> <cond_test...> ]"


def join_of(note: Mapping[str, Any]) -> Join | None:
    """Return how the occurrences of a keyword are joined to one value; None if they are not joined."""
    repeat = note.get("repeat")
    return Join(note.get("separator", " "), apart=repeat == "each") if repeat in ("join", "each") else None


class Compiler:
    """Compiles the synopses of one kind of object.

    `properties`: the members of the object. `no`: how switches are negated, `dash` for `no-keyword` and `prefix` for `no keyword`.
    """

    def __init__(self, schemas: Schemas, properties: Mapping[str, Schema], *, no: str = "dash", time_suffix: str = "nearest") -> None:
        self.schemas, self.properties, self.no, self.time_suffix = schemas, properties, no, time_suffix

    def chain(self, synopsis: str) -> Chain:
        """Compile a synopsis. A `<NAME...>` that names a schema stands for all properties of the schema that the synopsis does not name."""
        elements, _ = self._elements(_TOKEN.findall(synopsis), 0, stops=re.search(r"<\w*cond>", synopsis) is not None)
        return Chain(elements)

    def _elements(self, tokens: Sequence[str], at: int, *, stops: bool) -> tuple[list[Node | Options], int]:
        elements: list[Node | Options] = []
        groups: list[Group] = []

        def close() -> None:
            if groups:
                elements.append(Options(list(groups)))
                groups.clear()

        while at < len(tokens) and tokens[at] not in (*_ENDS, "|"):
            if tokens[at] in _BEGINS:
                required, inner = tokens[at] == "(", list[list[Node | Options]]()
                while tokens[at] not in _ENDS:
                    alternative, at = self._elements(tokens, at + 1, stops=stops)
                    inner.append(alternative)
                groups.append(self._group(inner, repeated=tokens[at] == "]*", required=required))
            elif (options := self._options_of_schema(tokens[at], tokens)) is not None:
                groups.extend(options)
            else:
                close()
                elements.append(self.node(tokens[at], first=not elements, stops=stops))
            at += 1
        close()
        return elements, at

    def _group(self, alternatives: Sequence[list[Node | Options]], *, repeated: bool, required: bool) -> Group:
        for nodes in alternatives:
            if nodes and isinstance(nodes[0], Placeholder) and isinstance(nodes[0].type, Choice):
                nodes[0].type.strict = True
        chains = [Chain(nodes) for nodes in alternatives]
        members = chains[0].members
        if len(members) == 1 and (join := join_of(self.schemas.note(self.property(members[0])))):
            return Group(chains, members[0], repeated=True, join=join, required=required)
        if not repeated:
            return Group(chains, required=required)
        first_names = [member.split(".")[0] for member in members]
        rows = next((member for member in first_names if self.properties[member].get("type") == "array"), "")
        return Group(chains, rows, repeated) if rows else Group(chains, first_names[0], repeated, Join(" "))

    def _options_of_schema(self, token: str, tokens: Sequence[str]) -> list[Group] | None:
        """If `token` names a schema, return the groups for those properties of the schema that no other token names; otherwise None."""
        name = token[1:-4] if token.startswith("<") and token.endswith("...>") else ""
        if name not in self.schemas.by_name or name in self.properties:
            return None
        named = {place.removesuffix("...") for token in tokens for place in _PLACE.findall(token)}
        return self.option_groups(
            {n: property_ for n, property_ in self.schemas.properties(self.schemas.named(name)).items() if n not in named}
        )

    def option_groups(self, properties: Mapping[str, Schema]) -> list[Group]:
        """Return a group for each property that is neither an alias nor part of another property's synopsis."""
        notes = {name: self.schemas.note(schema) for name, schema in properties.items()}
        with_synopsis: dict[str, Group] = {}
        for name, note in notes.items():
            if "line" in note or "lines" in note:
                lines = note.get("lines", [note.get("line")])
                with_synopsis[name] = Group([self.chain(line) for line in lines], keep=note.get("repeat") == "keep")
        in_other_synopses = {m.split(".")[0] for name, group in with_synopsis.items() for m in group.members if m.split(".")[0] != name}
        groups: list[Group] = []
        for name, schema in properties.items():
            note = notes[name]
            if name == "metadata" or name in in_other_synopses or note.get("ignored") or "alias_of" in note:
                continue
            if name in with_synopsis:
                groups.append(with_synopsis[name])
            elif "codec" in note:
                groups.append(Group([self.coded(name, note)]))
            elif has_no_value(schema, note):
                groups.append(Group([Chain([self.toggle(name, schema, note)])]))
            elif note.get("repeat") == "append":
                element = self.schemas.resolve(schema["items"])
                groups.append(Group([self.argument(name, element, note)], rows=name, repeated=True))
            else:
                join = join_of(note)
                rows, followers = name if join else "", note.get("followers", {})
                chain = self.argument(name, schema, note)
                groups.append(Group([chain], rows, repeated=join is not None, join=join, followers=followers))
        return groups

    def coded(self, name: str, note: Mapping[str, Any]) -> Chain:
        """Return the nodes for a keyword and its codec."""
        words: list[Node | Options] = [Literal(word) for word in keyword_of(name, note).split()]
        return Chain([*words, CODECS[note["codec"]](name)])

    def argument(self, name: str, schema: Schema, note: Mapping[str, Any]) -> Chain:
        """Return the nodes for `keyword <value>`.

        The value is the rest of the line if `note` has `whole`, or if `schema` is a list without a separator; otherwise it is one word.
        """
        words: list[Node | Options] = [Literal(word) for word in keyword_of(name, note).split()]
        plain_list = schema.get("type") == "array" and not note.get("split") and not note.get("separator")
        if note.get("whole") or plain_list:
            return Chain([*words, self._rest(name, schema, stops=False)])
        return Chain([*words, Placeholder(name, type_of(schema, note, self.time_suffix))])

    def toggle(self, name: str, schema: Schema, note: Mapping[str, Any]) -> Toggle:
        """Return the node for a flag or a switch."""
        keyword = tuple(keyword_of(name, note).split())
        if schema.get("type") == "boolean":
            return Toggle(name, {True: keyword})
        manner = note.get("no", self.no)
        negated = {"dash": (*keyword[:-1], "no-" + keyword[-1]), "prefix": ("no", *keyword), "none": None}[manner]
        on, off = note.get("when_enabled", ""), note.get("when_disabled", "")
        return Toggle(
            name,
            {
                "enabled": tuple(on.split()) if on else keyword,
                "disabled": negated if off == "" else tuple(off.split()) if off else None,
            },
        )

    def node(self, token: str, *, first: bool = False, stops: bool = False) -> Node:
        pieces = _PLACE.split(token)
        if len(pieces) == 1:
            return Literal(token)
        if pieces[0] or pieces[2:] != [""]:
            return Glued(pieces[::2], [self._placeholder(name) for name in pieces[1::2]])
        name = pieces[1]
        if name.endswith("..."):
            member = name[:-3]
            return self._rest(member, self.property(member), stops=stops and not member.endswith("cond_test"))
        schema = self.property(name)
        note = self.schemas.note(schema)
        if "codec" in note:
            return CODECS[note["codec"]](name)
        if schema.get("type") == "boolean" and not note.get("values"):
            return Toggle(name, {True: tuple(keyword_of(name.rsplit(".", 1)[-1], note).split())})
        if is_switch(schema) and note.get("when_disabled", "") is None:
            return Toggle(name, {"enabled": tuple(keyword_of(name, note).split()), "disabled": None})
        return self._placeholder(name)

    def _placeholder(self, name: str) -> Placeholder:
        schema = self.property(name)
        note = self.schemas.note(schema)
        if schema.get("type") == "boolean" and not note.get("values"):
            return Placeholder(name, Choice({True: keyword_of(name, note)}))
        return Placeholder(name, type_of(schema, note, self.time_suffix), note.get("absent"))

    def _rest(self, member: str, schema: Schema, *, stops: bool) -> Rest:
        item = None
        if schema.get("type") == "array":
            inner = self.schemas.resolve(schema.get("items", {}))
            item = type_of(inner, self.schemas.note(inner), self.time_suffix)
        return Rest(
            member,
            item,
            stops,
            (schema["example"],) if "example" in schema else (),
            self.schemas.note(schema).get("arguments", {}),
        )

    def property(self, path: str) -> Schema:
        """Return the schema of the member at a dotted path. A name after the name of a list refers to a member of the list's elements."""
        first, *more = path.split(".")
        schema = self.properties[first]
        for name in more:
            if schema.get("type") == "array":
                schema = self.schemas.resolve(schema["items"])
            schema = self.schemas.properties(schema)[name]
        if schema.get("type") == "array" and not more and self.schemas.note(schema).get("rows"):
            schema = self.schemas.resolve(schema["items"])
        return schema
