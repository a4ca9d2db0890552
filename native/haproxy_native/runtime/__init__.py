"""Use HAProxy's Runtime API: connect to its sockets, send commands, and parse the answers."""
