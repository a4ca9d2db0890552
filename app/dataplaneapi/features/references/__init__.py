"""The references to an object, and an operation that renames it. The core renames objects by a PUT."""
