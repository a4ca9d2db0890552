"""The Runtime API: sockets, commands as data, responses as values."""
