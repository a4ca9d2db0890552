"""The declaration of the API and of HAProxy's grammar, and the generators of everything that is made from it."""
