"""From settings to the SPOE files of a running engine."""

from pathlib import Path

from app.engine import own_directory
from app.settings import Settings
from native.config.directories import Directory
from native.config.editor import Editor
from native.engine import Engine
from native.spoe.directory import SpoeFiles
from native.spoe.editor import outline
from native.spoe.references import References
from native.spoe.surroundings import Surroundings


def spoe_files(settings: Settings, engine: Engine, editor: Editor, directory: Directory) -> SpoeFiles:
    """What an earlier process left half done is finished."""
    home = Path(settings.config_file).absolute().parent
    around = Surroundings(
        site=engine.site,
        directory=directory,
        storage=own_directory(settings) / "spoe",
        transactions=Path(settings.spoe_transaction_dir),
        references=References(editor, (Path.cwd(), home, home.parent)),
        outline=outline(editor.resources),
    )
    files = SpoeFiles(around)
    files.recover()
    return files
