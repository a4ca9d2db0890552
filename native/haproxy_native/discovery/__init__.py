"""Services found elsewhere, kept in step with backends."""
