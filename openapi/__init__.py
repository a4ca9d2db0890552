"""The API and HAProxy's grammar in one declaration, and what makes one document of its pieces."""
