"""Find all places in the configuration and in stored files that refer to an object, and rename the object in all of them."""
