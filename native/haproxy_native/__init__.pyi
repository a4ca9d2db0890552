from haproxy_native.editing.editor import Editor as Editor
from haproxy_native.engine import Engine as Engine
from haproxy_native.engine import EngineSettings as EngineSettings
from haproxy_native.errors import Conflict as Conflict
from haproxy_native.errors import NativeError as NativeError
from haproxy_native.errors import Refused as Refused
from haproxy_native.errors import ReloadFailed as ReloadFailed
from haproxy_native.objects.configuration import Configuration as Configuration
from haproxy_native.objects.configuration import parse as parse
from haproxy_native.objects.haproxy import Change as Change
from haproxy_native.objects.haproxy import HAProxy as HAProxy
from haproxy_native.objects.haproxy import open as open
from haproxy_native.open_engine import Process as Process
from haproxy_native.open_engine import opened as opened
from haproxy_native.text.document import Document as Document

__all__ = [
    "Change",
    "Configuration",
    "Conflict",
    "Document",
    "Editor",
    "Engine",
    "EngineSettings",
    "HAProxy",
    "NativeError",
    "Process",
    "Refused",
    "ReloadFailed",
    "open",
    "opened",
    "parse",
]
