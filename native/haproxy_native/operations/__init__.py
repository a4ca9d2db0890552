"""What takes long: begun by one call, watched and cancelled by others, and taken up again after a restart."""
