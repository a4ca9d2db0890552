"""A configuration as text: sections, lines and words, which write the bytes that they were parsed from."""
