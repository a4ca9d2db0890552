"""The demo behind `make demo`: an HAProxy and its sidecar in a temporary directory, until Ctrl-C."""
