"""A configuration, and the HAProxy that runs it, as Python objects: collections of pydantic models over `Editor` and `Engine`.

`configuration` edits a text, `haproxy` changes a file and its process, and `running` reads and changes the process alone. docs/library.md
shows the use of these modules.
"""
