"""Whether events can be signed for a webhook, and whether its receiver takes connections. Nothing is sent."""

import socket
from urllib.parse import urlsplit

from haproxy_native.webhooks.webhook import Webhook

SECONDS = 5.0


def unusable(webhook: Webhook) -> str:
    """What is the matter with its files; empty where nothing is."""
    try:
        webhook.keys()
        webhook.context()
    except (OSError, ValueError) as error:
        return str(error)
    return ""


def unreachable(webhook: Webhook) -> str:
    """Why there is no connection, TLS included; empty where there is. Blocks for some seconds."""
    place = urlsplit(webhook.url)
    host, is_tls = place.hostname or "", place.scheme == "https"
    try:
        with socket.create_connection((host, place.port or (443 if is_tls else 80)), SECONDS) as connection:
            if is_tls:
                webhook.context().wrap_socket(connection, server_hostname=host).close()
    except OSError as error:
        return f"no connection to {place.netloc}: {error}"
    return ""
