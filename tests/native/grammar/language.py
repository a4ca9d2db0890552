"""A small language that the tests of the grammar share."""

from typing import Any

from haproxy_native.grammar.load import Grammar

TEXT = {"type": "string"}
SWITCH = {**TEXT, "enum": ["enabled", "disabled"]}
COMMENT = {"metadata": {"type": "object"}}
CONDITION = {"cond": {**TEXT, "enum": ["if", "unless"]}, "cond_test": TEXT}
SCHEMAS: dict[str, Any] = {
    "host": {
        "x-haproxy": {"line": "host <name> <address> [ id <id> ] <params...>", "order": "free"},
        "required": ["name"],
        "allOf": [{"$ref": "#/components/schemas/params"}],
        "properties": {"name": TEXT, "address": {**TEXT, "x-haproxy": {"codec": "address_port"}}, "port": {"type": "integer"}, **COMMENT,
                       "id": {"type": "integer"}},
    },
    "params": {
        "properties": {
            "weight": {"type": "integer"},
            "inter": {"type": "integer", "x-duration": True},
            "check": SWITCH,
            "quick": {"type": "boolean"},
            "opts": {"type": "array", "items": TEXT, "x-haproxy": {"split": ","}},
            "off": {**SWITCH, "x-haproxy": {"alias_of": "check", "values": {"enabled": "disabled", "disabled": "enabled"}}},
        },
    },
    "rule": {
        "x-haproxy": {
            "keyword": "rule",
            "chosen_by": "type",
            "tail": "[ <cond> <cond_test...> ]",
            "lines": {"allow|deny": "<type>", "set": "set(<name>) <value...>", "pick": ["pick <name>", "pick by <number>"]},
        },
        "required": ["type"],
        "properties": {"type": {**TEXT, "enum": ["allow", "deny", "set", "pick"]}, "name": TEXT, "value": TEXT,
                       "number": {"type": "integer"}, **CONDITION},
    },
    "place": {
        "x-haproxy": {"header": "place <name> [ from <from> ]"},
        "properties": {
            "name": TEXT,
            "from": TEXT,
            **COMMENT,
            "level": {"type": "integer"},
            "open": {**SWITCH, "x-haproxy": {"keyword": "option open"}},
            "note": {**TEXT, "x-haproxy": {"whole": True}},
            "wait": {"type": "integer", "x-duration": True, "x-haproxy": {"keyword": "timeout wait"}},
            "names": {"type": "array", "items": TEXT, "x-haproxy": {"repeat": "append", "keyword": "name"}},
            "marks": {"type": "array", "items": {"properties": {"a": TEXT, "b": TEXT}, "x-haproxy": {"line": "mark <a> [ as <b> ]"}}},
            "guard": {"properties": {"enabled": SWITCH, "by": TEXT},
                      "x-haproxy": {"line": "option guard [ by <by> ]", "toggle": "enabled"}, "type": "object"},
            "defaults": {"type": "object", "allOf": [{"$ref": "#/components/schemas/params"}],
                         "x-haproxy": {"line": "host-default <params...>", "order": "free", "repeat": "merge"}},
            "inner": {"type": "object", "properties": {"deep": {"type": "integer"}}},
        },
    },
}  # fmt: skip


def small() -> Grammar:
    return Grammar({"components": {"schemas": SCHEMAS}})
