"""Where the file, the running document and the worker in service differ."""
