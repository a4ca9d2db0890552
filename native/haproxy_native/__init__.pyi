from haproxy_native.commit.change import Outcome as Outcome
from haproxy_native.editing.editor import Editor as Editor
from haproxy_native.engine import Engine as Engine
from haproxy_native.engine import EngineSettings as EngineSettings
from haproxy_native.errors import BadRequest as BadRequest
from haproxy_native.errors import BadValue as BadValue
from haproxy_native.errors import CheckImpossible as CheckImpossible
from haproxy_native.errors import Conflict as Conflict
from haproxy_native.errors import Exists as Exists
from haproxy_native.errors import Forbidden as Forbidden
from haproxy_native.errors import InUse as InUse
from haproxy_native.errors import Missing as Missing
from haproxy_native.errors import NativeError as NativeError
from haproxy_native.errors import NoSuchObject as NoSuchObject
from haproxy_native.errors import NotFound as NotFound
from haproxy_native.errors import ReadOnly as ReadOnly
from haproxy_native.errors import Refused as Refused
from haproxy_native.errors import RefusedAtRuntime as RefusedAtRuntime
from haproxy_native.errors import ReloadFailed as ReloadFailed
from haproxy_native.errors import RuntimeAbsent as RuntimeAbsent
from haproxy_native.errors import RuntimeRefused as RuntimeRefused
from haproxy_native.errors import UnknownMember as UnknownMember
from haproxy_native.errors import Unreadable as Unreadable
from haproxy_native.errors import Unusable as Unusable
from haproxy_native.errors import WriteFailed as WriteFailed
from haproxy_native.objects.blocking import open_sync as open_sync
from haproxy_native.objects.configuration import Configuration as Configuration
from haproxy_native.objects.configuration import parse as parse
from haproxy_native.objects.haproxy import ConfigurationChange as ConfigurationChange
from haproxy_native.objects.haproxy import HAProxy as HAProxy
from haproxy_native.objects.haproxy import open as open
from haproxy_native.open_engine import Process as Process
from haproxy_native.open_engine import opened as opened
from haproxy_native.text.document import Document as Document

__all__ = [
    "BadRequest",
    "BadValue",
    "CheckImpossible",
    "Configuration",
    "ConfigurationChange",
    "Conflict",
    "Document",
    "Editor",
    "Engine",
    "EngineSettings",
    "Exists",
    "Forbidden",
    "HAProxy",
    "InUse",
    "Missing",
    "NativeError",
    "NoSuchObject",
    "NotFound",
    "Outcome",
    "Process",
    "ReadOnly",
    "Refused",
    "RefusedAtRuntime",
    "ReloadFailed",
    "RuntimeAbsent",
    "RuntimeRefused",
    "UnknownMember",
    "Unreadable",
    "Unusable",
    "WriteFailed",
    "open",
    "open_sync",
    "opened",
    "parse",
]
