# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import mailers_section


class MailersSections(RootModel[list[mailers_section.MailersSection]]):
    """All such sections."""

    root: list[mailers_section.MailersSection]
