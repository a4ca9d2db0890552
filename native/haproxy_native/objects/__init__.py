"""A configuration, and the HAProxy that runs it, as Python objects: collections of pydantic models over `Editor` and `Engine`.

`configuration` edits a text, `haproxy` a file and its process, `running` reads the process. docs/library.md shows their use.
"""
