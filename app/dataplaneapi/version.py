"""The version of this build. Clients compare its first word with the versions of the API that they support."""

VERSION = "v3.4.0"
COMMIT = "sidecar"
REPOSITORY = "dataplane-sidecar"
# The zero date, as in the reference, so that builds are reproducible.
BUILD_DATE = "0001-01-01T00:00:00.000Z"
