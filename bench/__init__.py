"""Side-by-side benchmarks of any servers that speak the Data Plane API, with floors measured in the same run."""
