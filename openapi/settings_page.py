"""The page docs/settings.md: every setting with its flag, variable, place in the YAML file, default and meaning, made of the table."""

from typing import Any

from dataplaneapi.server.endpoint import KEYS
from dataplaneapi.settings.table import SettingSource, table

HEAD = """\
# Settings

This page lists every setting. Set it in the YAML file (`-f`, by default `/etc/haproxy/dataplaneapi.yaml`; `-f ""` for none), for example

```yaml
config_version: 2
dataplaneapi:
  port: 5555
haproxy:
  config_file: /etc/haproxy/haproxy.cfg
```

by a variable, or by a flag. Flags take precedence over variables, variables over the file, and the file over the default.
Durations are written as `10s`, `500ms` or `1h30m`, sizes as `512`, `64KB` or `1MiB` (decimal multiples).

`make generate` writes this page from `app/dataplaneapi/settings/table.py`.

"""
KINDS = {"texts": "list", "number": "number", "switch": "true or false", "text": "text", "duration": "duration", "size": "size"}
TAIL = """
## Settings of the YAML file only

| key | meaning |
|---|---|
| `config_version` | always 2 |
| `name` | name of this server; default: the host name |
| `dataplaneapi.listeners` | additional listeners, see below |
| `dataplaneapi.user` | users: `{name, password, insecure}`. `password` is a hash of crypt(3) \
(`openssl passwd -5`), or clear text with `insecure: true`; \
`"${NAME}"`, with these quotes, is the value of a variable |
| `dataplaneapi.roles` | roles by name: lists of rules `{objects, may, fields, reload, max_objects}`, see [access](access.md) |
| `dataplaneapi.role_of` | who has which role: `{users, certificates, spiffe, claims}`; users of `dataplaneapi.user` have `role` there |
| `dataplaneapi.jwt` | accepted JWTs: `{issuer, audience, jwks, claim, name, ca_file}`, see \
[access](access.md#jwt-of-an-openid-connect-issuer) |
| `dataplaneapi.audit` | the audit log: `{target: file, file: /var/log/dataplaneapi/audit.log, reads: false}`, see \
[access](access.md#the-audit-log) |
| `dataplaneapi.advertised` | `{api_address, api_port}`: accepted without effect |
| `log_targets` | destinations of log lines, see below |
| `fleet` | the group that this server is a node of, see [fleet](fleet.md) |

The server warns about unknown keys when it starts, and names the nearest known one. It adds missing required keys to the file;
comments, layout and unknown keys stay.

## Listeners

Each value of `scheme` opens one listener, and so does each entry of `listeners`. An entry contains
the settings that differ from those above: {keys}.

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

* `tls_ca` requires client certificates of that authority. They replace a password on this listener, unless `basic_auth: true` requires both
  (the default if the port is 0).
* A `tls_client_names` entry that begins with `spiffe:` must match the only URI of a certificate; other entries match any of its names.
* `tls_crl` contains revoked certificates. As with HAProxy's `crl-file`, each authority of a chain needs a list that has not expired;
  otherwise its clients are refused.
* Replaced files are used from the next connection on. A listener without a certificate uses systemd's credentials `tls.crt` and `tls.key`
  (`LoadCredential=`).
* SIGHUP applies changes of listeners; connections stay open.
"""


LOG = """
## Log targets

Each entry of `log_targets` is a destination. Without entries, warnings and errors go to standard output.

| key | meaning |
|---|---|
| `log_to` | `stdout`, `file` or `syslog` |
| `log_types` | `app` (default) for messages of the server, `access` for requests, or both |
| `log_level` | `debug`, `info` (the default), `warning` or `error`; access lines are at info level |
| `log_format` | `text` or `json`, one line each; in JSON, access lines also have their parts as members |
| `acl_format` | access lines in Apache's format: `%% %b %D %h %H %l %m %p %q %r %s %>s %t %T %u %U %v %V %{X}i %{X}o %{fmt}t %{ms}T`; \
`%u` is the user, or the name of the client certificate |
| `log_file` | the file; if it is moved away, the server opens a new one |
| `syslog_address`, `syslog_protocol` | `host:port` for `tcp`, `tcp4`, `tcp6`, `udp`, `udp4`, `udp6`; a path for `unix`, `unixgram` |
| `syslog_facility`, `syslog_level` | both are required; less severe lines are left out |
| `syslog_tag` | program name; default: dataplaneapi |

Syslog lines follow RFC 5424, on streams with their length in front (RFC 6587). If a collector cannot be reached, 10,000 lines are
kept; this, and the number of lost lines, is reported on standard output.
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
