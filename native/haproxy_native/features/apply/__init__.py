"""Apply: an owner declares objects and files, and one commit creates, changes and deletes what differs from the declaration.

Objects of other owners are unchanged.
"""
