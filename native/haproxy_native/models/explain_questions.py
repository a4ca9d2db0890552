# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from pydantic import Field, RootModel

from . import explain_question


class ExplainQuestions(RootModel[list[explain_question.ExplainQuestion]]):
    """Requests."""

    root: Annotated[list[explain_question.ExplainQuestion], Field(max_length=1000)]
