"""Which places of a configuration and of stored files name an object, and other names for objects in all of them."""
