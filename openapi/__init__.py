"""The API and HAProxy's grammar in one declaration, and the generators of everything made from it."""
