"""Apply declarations: the objects and files that an owner declares are written in one commit."""
