"""Events sent to other programs over HTTP: signed, kept on disk until they are taken, at least once."""
