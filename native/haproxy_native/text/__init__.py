"""A configuration as text: sections, lines and words; the same bytes are written again. Pure."""
