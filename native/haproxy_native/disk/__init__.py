"""Configuration files on disk: read, replaced whole, backed up, recovered after a crash."""
