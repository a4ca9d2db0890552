"""The page docs/settings.md: every setting with its flag, variable, place in the YAML file, default and meaning, made of the table."""

from typing import Any

from dataplaneapi.server.endpoint import KEYS
from dataplaneapi.settings.table import SettingSource, table

HEAD = """\
# Settings

Made of the table in `app/dataplaneapi/settings/table.py` by `make generate`; never edit it.

A flag beats a variable, a variable beats the YAML file (`-f`, by default `/etc/haproxy/dataplaneapi.yaml`; `-f ""` for none), and the file
beats the default. Durations are written as `10s`, `500ms` or `1h30m`, sizes as `512`, `64KB` or `1MiB` (decimal multiples).

"""
KINDS = {"texts": "list", "number": "number", "switch": "true or false", "text": "text", "duration": "duration", "size": "size"}
TAIL = """
## What only the YAML file holds

| key | meaning |
|---|---|
| `config_version` | always 2 |
| `name` | name of this server; default: the host's |
| `dataplaneapi.listeners` | further listeners beside those of `scheme`, see below |
| `dataplaneapi.user` | users: `{name, password, insecure}`. `password` is a hash of crypt(3) \
(`openssl passwd -5`), with `insecure: true` clear \
text; `"${NAME}"`, with these quotes, is that variable's value |
| `dataplaneapi.roles` | roles by name, each a list of rules `{objects, may, fields, reload, max_objects}`, see [access.md](access.md) |
| `dataplaneapi.role_of` | who has them: `{users, certificates, spiffe, claims}`, names with roles; a `dataplaneapi.user` takes `role` |
| `dataplaneapi.jwt` | whose JWTs are taken: `{issuer, audience, jwks, claim, name, ca_file}`, see [access.md](access.md) |
| `dataplaneapi.audit` | the audit log: `{target: file, file: /var/log/dataplaneapi/audit.log, reads: false}`, see [access.md](access.md) |
| `dataplaneapi.advertised` | `{api_address, api_port}`: kept, without effect |
| `log_targets` | where log lines go, see below |

An unknown key is reported by a warning at the start, with the nearest known one. The file is completed at each start by
what must stand in it; its comments, its layout and keys of others stay.

## Listeners

`scheme` opens one listener each. An entry of `listeners` opens one more; it holds what differs from the settings above for its scheme:
{keys}.

```yaml
dataplaneapi:
  listeners:
    - scheme: unix
      socket_path: /run/dataplaneapi.sock
      socket_mode: "0660"
      basic_auth: false          # any process that may open the socket
    - scheme: https
      host: 192.0.2.10
      port: 8443
      tls_certificate: /run/spire/svid.pem
      tls_key: /run/spire/svid_key.pem
      tls_ca: /run/spire/bundle.pem
      tls_client_names: ["spiffe://example.org/ns/ingress/*"]
```

With `tls_ca`, clients need a certificate of that authority, which stands for a password on this listener (`basic_auth: true`: both are
asked for; so it is where the port is 0). A name of `tls_client_names` that begins with `spiffe:` is met by the only URI of a
certificate, if that is a SPIFFE id; others by any of its names. `tls_crl` is a file of revoked certificates: as with HAProxy's `crl-file`
each authority of a chain needs a list that has not expired, else its clients are refused. Files that are replaced are used from
the next connection on. Without a certificate of their own listeners show the credentials `tls.crt` and `tls.key` of systemd
(`LoadCredential=`). SIGHUP follows changes of listeners; connections stay open.
"""


LOG = """
## Log targets

An entry of `log_targets` each; without any, warnings and errors go to standard output.

| key | meaning |
|---|---|
| `log_to` | `stdout`, `file` or `syslog` |
| `log_types` | `app` (the default) for what the server tells, `access` for requests, or both |
| `log_level` | `debug`, `info` (the default), `warning` or `error`; access lines are at info level |
| `log_format` | `text` or `json`: one line each; in JSON an access line has its parts as members, too |
| `acl_format` | access lines in Apache's format: `%% %b %D %h %H %l %m %p %q %r %s %>s %t %T %u %U %v %V %{X}i %{X}o %{fmt}t %{ms}T`; \
`%u` is the user, or the name of the client certificate |
| `log_file` | the file; one that was moved away is opened anew |
| `syslog_address`, `syslog_protocol` | `host:port` for `tcp`, `tcp4`, `tcp6`, `udp`, `udp4`, `udp6`; a path for `unix`, `unixgram` |
| `syslog_facility`, `syslog_level` | both are needed; what is less severe than the level is left out |
| `syslog_tag` | name of the program; default: dataplaneapi |

Lines to syslog are as in RFC 5424, over streams with their length in front (RFC 6587). While a collector cannot be reached, 10,000 are
kept; that, and how many were lost, is reported on standard output.
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
