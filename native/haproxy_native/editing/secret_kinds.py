"""Decide whether the text of a member is shown or masked, by the kind of secret that openapi/schemas declares (`x-secret`).

A member is shown as a whole or not at all. An expression is shown if all its functions accept only names, numbers and files. A comparison
is shown if the compared sample is never a credential. The value of a header is shown depending on the header's name.
openapi/haproxy/secrets.yaml lists these functions, samples and headers. All other texts are masked.

Each function of KINDS returns whether a text of its kind is shown. `siblings` are the other members of the object. `sibling` is the name of
the sibling on which the decision depends, such as the member that has the header's name.
"""

import re
from collections.abc import Callable, Mapping, Sequence
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
# Flags of a comparison that have an argument, and match methods that compare with numbers or with nothing.
_WITH_WORD, _METHOD, _HARMLESS = ("-f", "-M", "-m", "-u"), "-m", ("found", "bool", "int", "len")
# Kinds of response bodies that are literal texts, not file names.
_TEXTS = ("string", "lf-string")


@cache
def _is_one_of(kind: str) -> Callable[[str], object]:
    """Return a function that tests whether a name matches a pattern of the list `kind` in openapi/haproxy/secrets.yaml."""
    return re.compile("|".join(map(translate, bundle()["x-secrets"][kind]))).match


def is_public_header(name: str) -> bool:
    return bool(_is_one_of("headers")(unquoted(name).lower()))


def expression(text: str, siblings: Siblings, sibling: str = "") -> bool:
    """Return whether a sample expression is shown. An expression of more than one word is masked.

    If the sibling is an action such as set-var-fmt, the text is a log-format string.
    """
    if str(siblings.get(sibling, "")).endswith("-fmt"):
        return template(text, siblings)
    return len(words_of(text)) <= 1 and _has_public_calls(unquoted(text))


def expressions(text: str, siblings: Siblings, sibling: str = "") -> bool:
    """Return whether a list of sample expressions, separated by spaces, is shown. An expression may follow a name and `=`."""
    return all(expression(word, siblings) for word in words_of(text))


def _has_public_calls(text: str) -> bool:
    """Return whether the arguments of all function calls in a text may be shown. `text` contains no quotes and escapes."""
    found = _CALL.findall(text)
    return len(found) == text.count("(") and all(
        _is_one_of("functions")(name) or (name and _NUMBERS.fullmatch(arguments)) for name, arguments in found
    )


def format_(text: str, _: Siblings, sibling: str = "") -> bool:
    """Return whether to show a log-format string whose literal text is no secret."""
    plain = unquoted(text)
    # A literal that looks like a call is the rest of an expression with a bracket in it.
    return _has_public_calls("".join(_FIELD.findall(plain))) and not ("%[" in plain and re.search(r"[\w.+-]\(", _FIELD.sub(" ", plain)))


def template(text: str, siblings: Siblings, sibling: str = "") -> bool:
    """Return whether to show a log-format string whose literal text may be a secret."""
    return format_(text, siblings) and not _LITERAL.search(_FIELD.sub("", unquoted(text)))


def header(text: str, siblings: Siblings, sibling: str = "") -> bool:
    """Return whether to show the log-format string to which a header is set. The sibling has the name of the header."""
    return format_(text, siblings) if is_public_header(str(siblings.get(sibling, ""))) else template(text, siblings)


def match(text: str, siblings: Siblings, sibling: str = "") -> bool:
    """Return whether to show a regular expression for the value of a header. The sibling has the name of the header."""
    return is_public_header(str(siblings.get(sibling, ""))) or not _LITERAL.search(unquoted(text))


def url(text: str, siblings: Siblings, sibling: str = "") -> bool:
    """Return whether to show a URL, or a part of a URL. A URL with a query, fragment or user is masked."""
    plain = unquoted(text)
    return not re.search(r"[?@#]", _FIELD.sub("", plain)) and ("%" not in plain or _has_public_calls("".join(_FIELD.findall(plain))))


def word(text: str, _: Siblings, sibling: str = "") -> bool:
    """Return whether to show a text that must be one word, such as HTTP/1.1. After another word, headers may follow."""
    return bool(_WORD.fullmatch(unquoted(text)))


def content(_text: str, siblings: Siblings, sibling: str = "") -> bool:
    """Return whether to show the body of a response. The name of a file is shown, and a literal text is masked."""
    return siblings.get(sibling) in PAYLOADS and siblings.get(sibling) not in _TEXTS


def condition(text: str, _: Siblings, sibling: str = "") -> bool:
    """Return whether to show a condition, which consists of names of ACLs and of comparisons in braces.

    `text` does not begin with `if` or `unless`.
    """
    for term in terms(words_of(text)):
        words = [each for each in term if each.strip("!") not in ("", "{", "}")]
        if len(words) == len(term):
            is_public = all(_NAME.fullmatch(unquoted(each).lstrip("!").replace("|", "or")) for each in words)
        else:
            is_public = not words or _is_public_comparison(words[0], words[1:])
        if not is_public:
            return False
    return True


def pattern(text: str, siblings: Siblings, sibling: str = "") -> bool:
    """Return whether to show the flags and values of a comparison. The sibling has the sample that is compared."""
    return _is_public_comparison(str(siblings.get(sibling, "")), words_of(text))


def _is_public_comparison(criterion: str, words: Sequence[str]) -> bool:
    """Return whether to show a comparison: its sample is never a credential, or it compares only with files, numbers or nothing."""
    if not expression(criterion, {}):
        return False
    sample = unquoted(criterion)
    if (fetch := _NAME.match(sample)) and _is_one_of("compared")(fetch[0]):
        return True
    # For a sample of a header, the name of the header decides.
    if (from_header := _FROM_HEADER.match(sample)) and is_public_header(from_header[1]):
        return True
    methods = [words[at + 1] for at, each in enumerate(words[:-1]) if each == _METHOD]
    if methods and methods[-1] in _HARMLESS:
        return True
    is_argument = False
    for each in words:
        # An empty word is no value.
        if each and not is_argument and not each.startswith("-"):
            return False
        is_argument = not is_argument and each in _WITH_WORD
    return True


# The functions by the value of `x-secret`. A text of any other kind is always masked.
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
    """Return whether to show a member with the value `text`. `kind`: its `x-secret`. `prefix`: the prefix of the names of its siblings."""
    name, _, sibling = str(kind).partition(" ")
    return name in KINDS and KINDS[name](text, siblings, prefix + sibling)
