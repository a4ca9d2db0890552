"""Calls about SPOE files."""

from pathlib import Path

from tests.app.client import Client, Got

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
    about = f'Content-Disposition: form-data; name="{part}"; filename="{name}"'
    form = f"--boundary\r\n{about}\r\n\r\n{text}\r\n--boundary--\r\n"
    got: Got = client.post(FILES, form.encode(), headers={"content-type": "multipart/form-data; boundary=boundary"})
    return got
