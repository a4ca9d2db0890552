"""Generate docs/settings.md: every setting with its flag, variable, place in the YAML file, default and meaning, from the table."""

from typing import Any

from dataplaneapi.server.endpoint import KEYS
from dataplaneapi.settings.table import SettingSource, table

HEAD = """\
# Settings

This page lists every setting of the sidecar. To change settings of HAProxy itself, edit its configuration instead. You can set each
setting in three places. A flag takes precedence over an environment variable, and a variable over the YAML file:

* by a flag;
* by an environment variable, if the table lists one;
* in the YAML file. Its path is `/etc/haproxy/dataplaneapi.yaml` unless you pass another with `-f`; `-f ""` uses no file. An example:

```yaml
config_version: 2
dataplaneapi:
  port: 5555
haproxy:
  config_file: /etc/haproxy/haproxy.cfg
```

Write durations as `10s`, `500ms` or `1h30m`, and sizes as `512`, `64KB` or `1MiB` (decimal multiples).

`make generate` builds this page from `app/dataplaneapi/settings/table.py`.

"""
KINDS = {"texts": "list", "number": "number", "switch": "true or false", "text": "text", "duration": "duration", "size": "size"}
TAIL = """
## Settings of the YAML file only

| key | meaning |
|---|---|
| `config_version` | always 2 |
| `name` | name of this node; default: the host name |
| `dataplaneapi.listeners` | additional listeners, see below |
| `dataplaneapi.user` | users: `{name, password, insecure}`. `password` is a hash of crypt(3) \
(`openssl passwd -5`), or clear text with `insecure: true`; \
`"${NAME}"`, with these quotes, is the value of an environment variable |
| `dataplaneapi.roles` | roles by name: lists of rules `{objects, may, fields, reload, max_objects}`, see [access](access.md) |
| `dataplaneapi.role_of` | who has which role: `{users, certificates, spiffe, claims}`. \
Users in `dataplaneapi.user` have their own key `role` |
| `dataplaneapi.jwt` | accepted JWTs: `{issuer, audience, jwks, claim, name, ca_file}`, see \
[access](access.md#jwt-of-an-openid-connect-issuer) |
| `dataplaneapi.audit` | the audit log: `{target: file, file: /var/log/dataplaneapi/audit.log, reads: false}`, see \
[access](access.md#the-audit-log) |
| `dataplaneapi.advertised` | `{api_address, api_port}`: accepted without effect |
| `log_targets` | destinations of log lines, see below |
| `fleet` | the fleet of this node, see [fleet](fleet.md) |

At startup, the sidecar warns about unknown keys and suggests the nearest known one. It adds missing required keys to the file. It keeps
comments, layout and unknown keys.

## Listeners

The sidecar opens one listener for each value of `scheme`, and one for each entry of `listeners`. An entry contains only the settings that
differ from those above. It may contain {keys}.

```yaml
dataplaneapi:
  listeners:
    - scheme: unix
      socket_path: /run/dataplaneapi.sock
      socket_mode: "0660"
      basic_auth: false          # every process that can open the socket may use the API
    - scheme: https
      host: 192.0.2.10
      port: 8443
      tls_certificate: /run/spire/svid.pem
      tls_key: /run/spire/svid_key.pem
      tls_ca: /run/spire/bundle.pem
      tls_client_names: ["spiffe://example.org/ns/ingress/*"]
```

* With `tls_ca`, the listener requires a client certificate of that authority. The certificate replaces a password, unless
  `basic_auth: true` requires both. If the port is 0, `basic_auth` is true by default.
* A `tls_client_names` entry that begins with `spiffe:` must match the certificate's only URI. Other entries match any name of the
  certificate.
* `tls_crl` lists revoked certificates. As with HAProxy's `crl-file`, each authority of a chain needs a list that has not expired;
  otherwise its clients are refused.
* If you replace one of these files, the sidecar uses the new one from the next connection on. A listener without a certificate uses
  systemd's credentials `tls.crt` and `tls.key` (`LoadCredential=`).
* SIGHUP applies changes of listeners. Connections remain open.
"""


LOG = """
## Log targets

Each entry of `log_targets` is a destination. Without entries, the sidecar writes warnings and errors to standard output.

| key | meaning |
|---|---|
| `log_to` | `stdout`, `file` or `syslog` |
| `log_types` | `app` for messages of the sidecar, `access` for requests, or both; default: `app` |
| `log_level` | `debug`, `info`, `warning` or `error`; default: `info`. Access lines have level info |
| `log_format` | `text` or `json`, one line each. In JSON, an access line also has one field for each of its parts |
| `acl_format` | format of access lines, in Apache's notation: \
`%% %b %D %h %H %l %m %p %q %r %s %>s %t %T %u %U %v %V %{X}i %{X}o %{fmt}t %{ms}T`; \
`%u` is the user or the name of the client certificate |
| `log_file` | the path of the file. If the file is moved away, the sidecar opens a new one |
| `syslog_address`, `syslog_protocol` | `host:port` for `tcp`, `tcp4`, `tcp6`, `udp`, `udp4`, `udp6`; a path for `unix`, `unixgram` |
| `syslog_facility`, `syslog_level` | required for `syslog`. Lines less severe than `syslog_level` are left out |
| `syslog_tag` | program name; default: dataplaneapi |

Syslog lines follow RFC 5424. On streams, each line begins with its length (RFC 6587). If a collector cannot be reached, the sidecar keeps
10,000 lines, and reports the outage and the number of lost lines on standard output.
"""


def page() -> str:
    """The whole page."""
    sections: dict[str, list[str]] = {}
    for _, source, default in table():
        place = source.yaml.rpartition(".")[0]
        sections.setdefault(place, []).append(_row(source, default))
    keys = ", ".join(f"`{key}`" for key in KEYS)
    return HEAD + "\n".join(_section(place, rows) for place, rows in sections.items()) + TAIL.replace("{keys}", keys) + LOG


def _section(place: str, rows: list[str]) -> str:
    return f"## `{place}`\n\n| key | flag | kind | default | meaning |\n|---|---|---|---|---|\n" + "".join(f"{row}\n" for row in rows)


def _row(source: SettingSource, default: Any) -> str:
    flags = ", ".join(f"`{flag}`" for flag in source.flags)
    variable = f"; variable `{source.env}`" if source.env else ""
    key = source.yaml.rpartition(".")[2]
    return f"| `{key}` | {flags}{variable} | {KINDS[source.kind]} | {_default(source.kind, default)} | {source.meaning} |"


def _default(kind: str, default: Any) -> str:
    if kind == "duration":
        return f"{default:g}s" if default else ""
    return f"{default}" if default not in ("", None, False, []) else ""
