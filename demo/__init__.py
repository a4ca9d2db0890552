"""The demo behind `make demo`: an HAProxy and the server beside it, in a temporary directory, until Ctrl-C."""
