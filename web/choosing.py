"""Which rows a request means: some by their ids, those to which a filter applies, or all of them."""

from typing import Annotated, Any, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from pipeline.mac import normalize_mac
from web.schemas import ClientId, Mac, Request

#: Ids of one request.
_IDS_MAX = 1_000
#: Ids and times that JSON carries unharmed.
_NUMBER_MAX = 2**53 - 1

Number = Annotated[int, Field(ge=1, le=_NUMBER_MAX)]


class RowFilter(Request):
    """Rows of tasks: those to which all that is given applies."""

    task_id: ClientId | None = None
    mac: Mac | None = None

    def conditions(self) -> dict[str, Any]:
        """By name, None for what is not given."""
        return {**self.model_dump(), "mac": normalize_mac(self.mac) if self.mac else None}


class Choice(Request):
    """Exactly one of ids, filter and all."""

    ids: Annotated[list[Number], Field(min_length=1, max_length=_IDS_MAX)] | None = None
    filter: RowFilter | None = None
    all: bool = False
    dry_run: bool = Field(default=False, description="only count")

    @model_validator(mode="after")
    def _name_one(self) -> Self:
        is_empty = self.filter is not None and not any(self.filter.conditions().values())
        if is_empty or (self.ids is not None) + (self.filter is not None) + self.all != 1:
            fault = "name exactly one of: ids, a filter that is not empty, all"
            raise PydanticCustomError("fault", "{fault}", {"fault": fault})
        return self

    def conditions(self) -> dict[str, Any]:
        """By name, `ids` among them if they were named; nothing means all."""
        if self.ids is not None:
            return {"ids": tuple(self.ids)}
        return self.filter.conditions() if self.filter else {}
