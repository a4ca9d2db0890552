"""What this build calls itself; clients read the first word and compare it as a version of the API they know."""

VERSION = "v3.4.0"
COMMIT = "sidecar"
REPOSITORY = "dataplane-sidecar"
# The reference's zero date: a wheel built twice is the same wheel.
BUILD_DATE = "0001-01-01T00:00:00.000Z"
