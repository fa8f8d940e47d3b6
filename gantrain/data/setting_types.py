"""Types that the settings of several sources share."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from gantrain.interfaces import Range

Side = Annotated[int, Field(ge=1, le=8192)]  # pixels
Positive = Annotated[float, Field(gt=0)]
COLOUR = r"^(white|black|gray|#[0-9a-fA-F]{6})$"


def _colour(text: str) -> str:
    if not re.match(COLOUR, text):
        raise ValueError("is no colour that gantrain knows; write white, black, gray, or #rrggbb in quotes")
    return text


Colour = Annotated[str, AfterValidator(_colour), Field(json_schema_extra={"pattern": COLOUR})]


def check_value_range(value_range: Range | None) -> None:
    """ValueError unless the first number is less than the second."""
    if value_range is not None and not value_range[0] < value_range[1]:
        raise ValueError("value_range must be [lowest, highest] with lowest < highest")
