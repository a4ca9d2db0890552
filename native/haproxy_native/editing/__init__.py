"""Read and edit documents object by object."""
