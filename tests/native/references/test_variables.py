"""Names that environment variables are part of: the API addresses them with the quotes of the file, and they are renamed as a whole."""

import pytest

from haproxy_native.references.object_references import object_of, rename_object
from tests.native.references.sample import found, lines

TEXT = """\
frontend "f-$HOST"
  acl "c-$HOST" path /z
  use_backend "be-${HOST}" if "c-$HOST"
  use_backend "be-$HOSTS" if !"c-${HOST}"
  http-request track-sc0 src table "be-${HOST}"
  http-request deny if { nbsrv("be-$HOST") eq 0 } || { str(x),in_table("be-${HOST}") }
  default_backend "be-$HOST"
backend "be-$HOST"
  stick-table type ip size 1k store http_req_rate(10s)
  server "s-$HOST" 127.0.0.1:1 check track "be-${HOST}"/"s-${HOST}"
  use-server "s-${HOST}" if TRUE
"""


@pytest.mark.parametrize(
    ("object_", "count"),
    [
        ('backend/"be-$HOST"', 6),
        ('frontend/"f-$HOST"/acl/"c-$HOST"', 2),
        ('backend/"be-$HOST"/server/"s-$HOST"', 2),
        ('frontend/"f-$HOST"', 0),
    ],
)
def test_references_and_renaming(object_: str, count: int) -> None:
    references = found(object_, TEXT)
    assert len(references.spots) == count, lines(references)
    there = rename_object(references, "new").text
    own = object_.rpartition("/")[2].strip('"')
    assert f'"{own}"' not in there and own.replace("$HOST", "${HOST}") not in there
    assert there.count("new") == count + 1


def test_another_variable_may_have_the_name_as_its_value() -> None:
    assert [lost.why for lost in found('backend/"be-$HOST"', TEXT).lost] == ["an environment variable sets the name"]


def test_objects_are_named_as_they_are_addressed() -> None:
    references = found('backend/"be-$HOST"', TEXT)
    assert object_of(references.document, 0) == 'frontend/"f-$HOST"' and object_of(references.document, 1) == 'backend/"be-$HOST"'
