"""Writes files of the client's own: complete or not at all."""

import os


def replace(path: str, text: str, mode: int = 0o600) -> None:
    """Replaces a file by a draft beside it and a rename. Raises OSError."""
    draft = f"{path}.{os.getpid()}"
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        if os.path.exists(draft):
            os.unlink(draft)
        raise
