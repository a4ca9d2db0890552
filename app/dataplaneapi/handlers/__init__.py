"""What each operation of the API does, in terms of the engine; no handler knows another."""
