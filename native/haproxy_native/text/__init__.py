"""A configuration as text: sections, lines and words; the bytes that went in come out. Pure."""
