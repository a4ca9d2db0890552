"""Sections that exist once and have no name, such as global."""

from app.handlers.configuration import read_one, replace_one

ACTIONS = {"get": read_one, "replace": replace_one}
