"""Apply: an owner declares objects and files, and one commit creates, changes and deletes what differs. Other owners' objects stay."""
