"""Open the SPOE files of a running engine according to the settings."""

from pathlib import Path

from dataplaneapi.open_engine import own_directory
from dataplaneapi.settings.table import Settings
from haproxy_native.disk.directories import Directory
from haproxy_native.editing.editor import Editor
from haproxy_native.engine import Engine
from haproxy_native.spoe.directory import SpoeFiles
from haproxy_native.spoe.editor import outline
from haproxy_native.spoe.store import SpoeFilters, SpoeStore


def spoe_files(settings: Settings, engine: Engine, editor: Editor, directory: Directory) -> SpoeFiles:
    """Return the SPOE files of the engine, after completing changes that an earlier process has left incomplete."""
    home = Path(settings.config_file).absolute().parent
    store = SpoeStore(
        context=engine.context,
        home=directory,
        storage=own_directory(settings) / "spoe",
        transactions=Path(settings.spoe_transaction_dir),
        filters=SpoeFilters(editor, (Path.cwd(), home, home.parent), lambda: engine.context.working_directory.last),
        outline=outline(editor.resources),
    )
    files = SpoeFiles(store)
    files.recover()
    return files
