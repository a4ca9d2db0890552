"""Write all generated files: both documents, models, types, pages for readers, the man page. `python -m openapi.generate [--check]`.

With --check nothing is written: it exits with 1 and the difference when a file is not what it would be.
"""

import difflib
import sys
from collections.abc import Mapping
from pathlib import Path

from openapi import (
    blocking,
    bundle,
    command,
    completion_words,
    decisions_page,
    keywords,
    kinds,
    layout,
    lint_page,
    models,
    modules_page,
    objects,
    parameter_values,
    settings_page,
    swagger,
    tasks,
)

ROOT = Path(__file__).parent.parent
DOCUMENTS = ROOT / "openapi" / "generated"
MODELS = ROOT / "native" / "haproxy_native" / "models"
OBJECTS = ROOT / "native" / "haproxy_native" / "objects"
DOCS = ROOT / "docs"
API = ROOT / "app" / "dataplaneapi" / "api"
CLIENT = ROOT / "app" / "dataplaneapi" / "ctl"
STATIC = ROOT / "app" / "dataplaneapi" / "static"
PAGE = ROOT / "app" / "dataplaneapi" / "features" / "page" / "ui"
COMMAND = "make generate"


def files() -> dict[Path, str]:
    """Every generated file with the text it ought to have."""
    document = bundle.document()
    return {
        DOCUMENTS / "dataplane.json": layout.text(document),
        DOCUMENTS / "swagger.json": layout.text(swagger.swagger(document)),
        DOCS / "keywords.md": keywords.page(document),
        DOCS / "settings.md": settings_page.page(),
        DOCS / "lint.md": lint_page.page(),
        DOCS / "modules.md": modules_page.page(),
        DOCS / "decisions" / "README.md": decisions_page.page(),
        OBJECTS / "sections.pyi": objects.stub(document),
        OBJECTS / "blocking.pyi": blocking.stub(OBJECTS),
        API / "parameter_values.py": parameter_values.module(document),
        CLIENT / "kinds.py": kinds.module(document),
        STATIC / "tasks.json": tasks.module(document),
        PAGE / "words.js": completion_words.module(document),
        **{DOCS / "command" / name: text for name, text in command.pages().items()},
        **{MODELS / name: text for name, text in models.models(document).items()},
    }


def leftovers(wanted: Mapping[Path, str]) -> list[Path]:
    """Files in the generated directories that nothing makes any more; other pages stand beside those of ours."""
    mixed = {DOCS, DOCS / "decisions", OBJECTS, API, CLIENT, STATIC, PAGE}
    present = [file for place in {file.parent for file in wanted} - mixed for file in place.glob("*.*")]
    return sorted(file for file in present if file not in wanted and file.name != "__init__.py")


def write(wanted: Mapping[Path, str]) -> None:
    for file in leftovers(wanted):
        file.unlink()
    for file, text in wanted.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_text() != text:
            file.write_text(text)


def differences(wanted: Mapping[Path, str]) -> list[str]:
    """Lines that tell how the files on disk differ from what they ought to be."""
    lines = [f"{file.relative_to(ROOT)}: nothing makes this file" for file in leftovers(wanted)]
    for file, text in wanted.items():
        name = str(file.relative_to(ROOT))
        old = file.read_text() if file.exists() else ""
        if old != text:
            lines += difflib.unified_diff(old.splitlines(), text.splitlines(), name, f"{name} (as declared)", lineterm="", n=1)
    return lines


def main(arguments: list[str]) -> int:
    try:
        wanted = files()
    except bundle.Mistake as mistake:
        print(f"openapi/{mistake}", file=sys.stderr)
        return 1
    if "--check" not in arguments:
        write(wanted)
        return 0
    lines = differences(wanted)
    if lines:
        print("\n".join([*lines[:100], f"generated files are stale: run `{COMMAND}`"]))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
