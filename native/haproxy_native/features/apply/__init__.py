"""Apply: an owner declares objects and files, and one commit makes them so. Objects of other owners stay as they are."""
