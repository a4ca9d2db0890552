"""Rights: which objects a caller may read, create, change and delete."""
