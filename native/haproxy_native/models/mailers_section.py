# Generated from openapi/ by `make generate`; do not edit.

from . import mailer_entry
from .mailers_section_base import MailersSectionBase


class MailersSection(MailersSectionBase):
    """A mailers section with its servers."""

    mailer_entries: dict[str, mailer_entry.MailerEntry] | None = None
    """Mail servers by name."""
