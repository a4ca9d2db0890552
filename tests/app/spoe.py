"""Calls about SPOE files."""

from pathlib import Path

from tests.app.client import Client, Got
from tests.app.test_upload import TYPE, form

SPOE = "/v3/services/haproxy/spoe"
FILES = f"{SPOE}/spoe_files"
FILE = f"{FILES}/f.cfg"
ONE = f"{FILE}/scopes/%5Bone%5D"
TEXT = """\
# _version=3
[one]
spoe-agent a1
  messages m1   # c
  no option async
  use-backend app

spoe-message m1
  args ip=src
  event on-client-session
"""


def furnish(directory: Path) -> Path:
    """The path of `f.cfg`."""
    (directory / "spoe").mkdir()
    (directory / "spoe" / "f.cfg").write_text(TEXT)
    return directory / "spoe" / "f.cfg"


def upload(client: Client, name: str, text: str, part: str = "file_upload") -> Got:
    got: Got = client.post(FILES, form((f'name="{part}"; filename="{name}"', text.encode())), headers={"content-type": TYPE})
    return got
