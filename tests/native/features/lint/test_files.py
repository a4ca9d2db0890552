"""Files beyond the seeded files."""

from haproxy_native.features.lint.finding import checks
from haproxy_native.features.lint.lint import findings
from haproxy_native.text.document import Document
from tests.native.features.lint.seeds import seeds


def test_without_facts_nothing_is_known_of_files() -> None:
    for id_, check in checks().items():
        if id_ in seeds() and (check.module == "files" or id_ == "map-value-undefined"):
            assert findings(Document.parse(seeds()[id_]), wanted=[check]) == []
