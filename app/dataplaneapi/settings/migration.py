"""Move definitions of service discovery from the settings file, where an older version stored them, to the current store."""

import json
import logging
import uuid

from dataplaneapi.settings import yaml_file as settings_file
from dataplaneapi.settings.table import Settings
from haproxy_native.discovery.discovery import Discovery
from haproxy_native.errors import NativeError

logger = logging.getLogger(__name__)
SECTION = "service_discovery"
# For each member of the section: the kind of definition, its name in messages, and the member that identifies an entry.
_KINDS = {"consuls": ("consul", "Consul", "id"), "aws_regions": ("aws", "AWS Region", "name")}


def migrate(settings: Settings, discovery: Discovery) -> None:
    """Move the definitions, then remove the section from the settings file. If that fails, log the error and leave the section."""
    if not settings.service_discovery or settings.read_only:
        return
    try:
        for member, (kind, word, key) in _KINDS.items():
            for entry in settings.service_discovery.get(member) or []:
                definitions = discovery.kinds[kind]
                name = str(entry.get(key) or uuid.uuid4())
                places = f"Old location [{settings.file}] New location [{definitions.place}]. Use only new location"
                if any(definition.get(key) == name for definition in definitions.list_all()):
                    logger.warning("[CFG DEPRECATED] [SKIP] [%s] [%s]: already migrated. %s", word, name, places)
                    continue
                logger.warning("[CFG DEPRECATED] [MIGRATE] [%s] [%s]: migrating. %s", word, name, places)
                definitions.adopt(json.loads(json.dumps(entry)))
        settings_file.remove(settings.file, SECTION)
    except (NativeError, OSError, TypeError, ValueError, KeyError, AttributeError) as error:
        logger.error("moving %s out of %s failed, so it stays there: %s", SECTION, settings.file, error or type(error).__name__)
