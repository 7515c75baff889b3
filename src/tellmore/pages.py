"""Pages of HTML from the package's ``templates``. All values are escaped, unless they are ``Markup``."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tellmore.errors import needs

if TYPE_CHECKING:
    from jinja2 import Environment


def render_page(template: str, **values: Any) -> str:
    """The page that ``template`` makes of ``values``; a missing value is an error."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    with needs("jinja2", "app"):
        from jinja2 import Environment, PackageLoader, StrictUndefined
    return Environment(
        loader=PackageLoader("tellmore"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
