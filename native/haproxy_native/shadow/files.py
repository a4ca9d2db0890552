"""Files that stand elsewhere than a configuration looks for them: those that a change is about to store."""

import os
from collections.abc import Mapping
from pathlib import Path

from haproxy_native.check.whole_set import WholeSet, home_in, led_into
from haproxy_native.shadow.named_files import naming
from haproxy_native.shadow.rewrite import rewritten
from haproxy_native.text.document import Document

# Where the content of a path stands; None for a file that is gone.
Files = Mapping[Path, Path | None]
NONE: Files = {}
# Bytes.
LARGEST_LIST = 1 << 20


def with_files(document: Document, scratch: Path, home: Path, files: Files) -> tuple[str, Path]:
    """The text of the shadow that looks for these files elsewhere, and where it is to be started."""
    tree, there = scratch / "set", {os.path.abspath(path): content for path, content in files.items()}
    contents = {path: content for path, content in there.items() if content}
    contents = {os.path.abspath(path): path for path in naming(document, home, files)} | contents
    # Those that may be lists, which name others.
    lists = [path for path, content in contents.items() if content.stat().st_size <= LARGEST_LIST]
    given = WholeSet({}, contents, lists, [path for path, content in there.items() if content is None], Path.cwd())
    led = Document.parse(led_into(tree, given, document.text).encode("utf-8", "surrogateescape"))
    return rewritten(led, scratch, tree / "root" / str(home).lstrip("/")).text, home_in(tree, given)
