"""Where an object is referred to, and its renaming by an operation of its own. The core renames with a PUT."""
