"""Compare the console blocks of the guides with the real output of their commands in one demo."""

import shutil

import pytest

from tests.docs.guides import PAGES, compared, run, steps


@pytest.mark.skipif(not shutil.which("jq"), reason="no command here: jq")
def test_the_guides_print_what_they_show() -> None:
    assert len(PAGES) > 4
    differing = [
        (page.name, *compared(shown), compared(real)[1])
        for page, printed in run(PAGES)
        for shown, real in zip(steps(page.read_text()), printed, strict=True)
        if compared(shown) != compared(real)
    ]
    assert differing == []
