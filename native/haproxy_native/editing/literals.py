"""Tells whether the text of a member is shown, by what the member means (`x-secret` in openapi/schemas). Pure.

A member is shown whole or not at all. An expression is shown where all its functions take names, numbers and files; a comparison where
what is compared is never a credential; a header where its name says so. openapi/haproxy/secrets.yaml lists these; all else is masked.

Each function of KINDS returns whether a text of its kind is shown. `siblings` are the other members of the object, and `sibling` is the one
of them that the declaration names.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import translate
from functools import cache

from haproxy_native.grammar.codecs import PAYLOADS
from haproxy_native.grammar.conditions import terms
from haproxy_native.grammar.load import bundle
from haproxy_native.text.words import unquoted, words_of

Siblings = Mapping[str, object]

_CALL = re.compile(r"([\w.+-]*)\(([^()]*)")
_NUMBERS = re.compile(r"[\d\s,.:/-]*")
_NAME = re.compile(r"[\w.+-]+")
_FIELD = re.compile(r"%\[[^\]]*\]|%(?:\{[^}]*\})?[+-]?\w+|%%")
_FROM_HEADER = re.compile(r"(?:(?:re[qs]\.)?f?hdr|shdr)(?:_\w+)?\(\s*([^,()\s]+)[^()]*\)")
_LITERAL = re.compile(r"[^\W_]")
_WORD = re.compile(r"[\w./+-]+")
# Flags of a comparison that a word follows, and methods that compare with numbers or with nothing.
_WITH_WORD, _METHOD, _HARMLESS = ("-f", "-M", "-m", "-u"), "-m", ("found", "bool", "int", "len")
# Forms of a body that are texts.
_TEXTS = ("string", "lf-string")


@cache
def _is_one_of(kind: str) -> Callable[[str], object]:
    """Whether a name is among the patterns of one list of openapi/haproxy/secrets.yaml."""
    return re.compile("|".join(map(translate, bundle()["x-secrets"][kind]))).match


def is_public_header(name: str) -> bool:
    return bool(_is_one_of("headers")(unquoted(name).lower()))


def expression(text: str, siblings: Siblings, sibling: str = "") -> bool:
    """A sample expression, one word; a log-format string where `sibling` is an action with such, as set-var-fmt."""
    if str(siblings.get(sibling, "")).endswith("-fmt"):
        return template(text, siblings)
    return len(words_of(text)) <= 1 and _calls(unquoted(text))


def expressions(text: str, siblings: Siblings, sibling: str = "") -> bool:
    """Sample expressions, each with a name and `=` in front or without."""
    return all(expression(word, siblings) for word in words_of(text))


def _calls(text: str) -> bool:
    """Whether all functions take what may be shown; `text` is without quotes and escapes."""
    found = _CALL.findall(text)
    return len(found) == text.count("(") and all(
        _is_one_of("functions")(name) or (name and _NUMBERS.fullmatch(arguments)) for name, arguments in found
    )


def format_(text: str, _: Siblings, sibling: str = "") -> bool:
    """A log-format string whose own text is shown."""
    plain = unquoted(text)
    # A literal that looks like a call is what is left of an expression with a bracket in it.
    return _calls("".join(_FIELD.findall(plain))) and not ("%[" in plain and re.search(r"[\w.+-]\(", _FIELD.sub(" ", plain)))


def template(text: str, siblings: Siblings, sibling: str = "") -> bool:
    """A log-format string that has no text of its own."""
    return format_(text, siblings) and not _LITERAL.search(_FIELD.sub("", unquoted(text)))


def header(text: str, siblings: Siblings, sibling: str = "") -> bool:
    """A log-format string that a header is set to, whose name is in `sibling`."""
    return format_(text, siblings) if is_public_header(str(siblings.get(sibling, ""))) else template(text, siblings)


def match(text: str, siblings: Siblings, sibling: str = "") -> bool:
    """A regular expression that a header is compared with."""
    return is_public_header(str(siblings.get(sibling, ""))) or not _LITERAL.search(unquoted(text))


def url(text: str, siblings: Siblings, sibling: str = "") -> bool:
    """A URL, or a part of one: neither a query nor a user stands in it."""
    plain = unquoted(text)
    return not re.search(r"[?@#]", _FIELD.sub("", plain)) and ("%" not in plain or _calls("".join(_FIELD.findall(plain))))


def word(text: str, _: Siblings, sibling: str = "") -> bool:
    """A word such as HTTP/1.1, behind which headers may stand."""
    return bool(_WORD.fullmatch(unquoted(text)))


def content(_text: str, siblings: Siblings, sibling: str = "") -> bool:
    """The body of a response: the name of a file is shown, and a text is not."""
    return siblings.get(sibling) in PAYLOADS and siblings.get(sibling) not in _TEXTS


def condition(text: str, _: Siblings, sibling: str = "") -> bool:
    """The condition behind `if` and `unless`: names of ACLs, and comparisons in braces."""
    return all(map(_term, terms(words_of(text))))


def _term(term: Sequence[str]) -> bool:
    words = [each for each in term if each.strip("!") not in ("", "{", "}")]
    if len(words) == len(term):
        return all(map(_NAME.fullmatch, (unquoted(each).lstrip("!").replace("|", "or") for each in words)))
    return not words or _compared(words[0], words[1:])


def pattern(text: str, siblings: Siblings, sibling: str = "") -> bool:
    """The flags and values that the sample in `sibling` is compared with."""
    return _compared(str(siblings.get(sibling, "")), words_of(text))


def _compared(criterion: str, words: Sequence[str]) -> bool:
    """Whether a comparison is shown: always, if it compares with files, with numbers or with nothing."""
    if not expression(criterion, {}):
        return False
    if _is_public_sample(unquoted(criterion)):
        return True
    methods = [words[at + 1] for at, each in enumerate(words[:-1]) if each == _METHOD]
    return not any(_values(words)) or (bool(methods) and methods[-1] in _HARMLESS)


def _values(words: Iterable[str]) -> Iterable[str]:
    """The words that are neither flags nor what these need."""
    needed = False
    for each in words:
        if not needed and not each.startswith("-"):
            yield each
        needed = not needed and each in _WITH_WORD


def _is_public_sample(text: str) -> bool:
    """Whether a sample, whatever converts it, is never a credential; of a header its name decides."""
    if (fetch := _NAME.match(text)) and _is_one_of("compared")(fetch[0]):
        return True
    found = _FROM_HEADER.match(text)
    return found is not None and is_public_header(found[1])


# By the words of `x-secret` that are about one text. What is none of them is always masked.
KINDS: Mapping[str, Callable[[str, Siblings, str], bool]] = {
    "condition": condition,
    "content": content,
    "expression": expression,
    "expressions": expressions,
    "format": format_,
    "header": header,
    "match": match,
    "pattern": pattern,
    "template": template,
    "url": url,
    "word": word,
}


def is_shown(kind: object, text: str, siblings: Siblings, prefix: str = "") -> bool:
    """Whether a member with this `x-secret` is shown; `siblings` are the members beside it, whose names may have a prefix."""
    name, _, sibling = str(kind).partition(" ")
    return name in KINDS and KINDS[name](text, siblings, prefix + sibling)
