from __future__ import annotations

import pytest
from jinja2 import UndefinedError

from tellmore.figures.reproduce import Outcome
from tellmore.pages import render_page


def test_what_is_filled_in_is_text_never_markup() -> None:
    outcome = Outcome("fig1", "<script>", 'say "hi" & go', True, 0.0)
    page = render_page("exhibits.html", outcomes=[outcome], plan="<i>", command="<b>")
    assert "<script>" not in page
    assert 'alt="&lt;script&gt;"' in page
    assert "<i>" not in page
    assert "<b>" not in page
    assert page.startswith("<!doctype html>")


def test_a_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="plan"):
        render_page("exhibits.html", outcomes=[], command="")
