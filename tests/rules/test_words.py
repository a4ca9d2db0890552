"""Words that no text of the project has: what happens has a plainer one, such as reported, answered, logged or another process."""

import re
from pathlib import Path

import pytest

from tests.rules.sources import CHECKOUT, GENERATED

FOLDERS = ("app", "native", "openapi", "docs", "ansible", "systemd", "packaging", "demo", "bench", "tests")
SUFFIXES = (".py", ".md", ".yaml", ".yml", ".toml", ".json", ".service", ".socket", ".j2", "")
# Reports, answers, logs and names; another process, another client, the user.
WORDS = re.compile(r"\b(?:[Ss]omebody|[Ww]hoever|[Aa]nyway|[Tt]old|[Kk]nows nothing|[Nn]obody knows|nothing knows)\b")
# A member of a file on disk.
ALLOWED = {"native/haproxy_native/commit/ledger.py": 2}
OTHERS = ("tests/corpus/", "tests/golden/", "tests/rules/test_words.py", *GENERATED)


def texts() -> list[Path]:
    found = (path for folder in FOLDERS for path in (CHECKOUT / folder).rglob("*") if path.suffix in SUFFIXES and path.is_file())
    named = [path.relative_to(CHECKOUT) for path in (*found, CHECKOUT / "README.md", CHECKOUT / "CHANGELOG.md", CHECKOUT / "Makefile")]
    return [path for path in named if not path.as_posix().startswith(OTHERS) and "__pycache__" not in path.parts]


def uses(text: str) -> list[str]:
    return WORDS.findall(text)


@pytest.mark.parametrize("text", ["Whoever asks is told.", "told = 1", "somebody else", "as it is anyway", "it knows nothing of HTTP"])
def test_a_word_is_seen(text: str) -> None:
    assert uses(text)


def test_no_text_has_them() -> None:
    seen = {path.as_posix(): words for path in texts() if (words := uses((CHECKOUT / path).read_text(errors="replace")))}
    assert {path: words for path, words in seen.items() if len(words) > ALLOWED.get(path, 0)} == {}
