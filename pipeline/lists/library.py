"""The way of a list: brought as a draft and looked through, compiled, published, rolled back, removed."""

import logging
from dataclasses import asdict, dataclass

from models.word_lists import ListRow, NewVersion, Owner, VersionRow
from models.word_shelf import WordShelf
from pipeline.detector.lexicon import Lexicon
from pipeline.detector.rule_files import rules_of_json
from pipeline.errors import FieldProblem, InvalidInput, ListNotFound, ListRefused, StorageUnavailable
from pipeline.lists.compiled import CompiledLists
from pipeline.lists.lint import lint
from pipeline.lists.reading import ListFile

#: The business log.
log = logging.getLogger("pipeline.words")


@dataclass(frozen=True, slots=True)
class Library:
    """All lists; any number of processes may change them at once.

    Every method raises `DatabaseUnavailable`.
    """

    shelf: WordShelf
    compiled: CompiledLists

    def bring(self, owner: Owner, name: str, read: ListFile, source: str) -> VersionRow:
        """Keep what was read as a draft: the next version of the list of this name, which is made if there is none.

        Returns: the version, with what the linter found; the newest one if that says the same.
        Raises: InvalidInput for a name or site that cannot be.
        """
        if fault := name_fault(name):
            raise InvalidInput([FieldProblem("name", fault)])
        return self.add(self.shelf.create(owner, name).id, read, source)

    def add(self, list_id: int, read: ListFile, source: str) -> VersionRow:
        """The same for a list that is there. Raises: ListNotFound."""
        new = NewVersion(
            body=read.body,
            sha256=read.sha256,
            source=source,
            counts=counts_of(read),
            findings=[asdict(finding) for finding in lint(read).findings],
        )
        return self.shelf.add(list_id, new)

    def publish(self, list_id: int, number: int | None = None, *, force: bool = False) -> ListRow:
        """Put a version, the newest by default, into effect: compiled first, then every process follows.

        Args:
            force: in spite of warnings.
        Raises: ListNotFound; ListRefused; StorageUnavailable.
        """
        version = self.shelf.version(list_id, number or self._latest(list_id))
        _refuse_faulty(version, force=force)
        self.compiled.put(version.sha256, Lexicon(rules=rules_of_json(self.shelf.content(version.sha256))))
        return self._point(version, "a list was published")

    def roll_back(self, list_id: int, number: int | None = None) -> ListRow:
        """Put a version that was in effect before into effect again, by default the newest of those before this one.

        Raises: ListNotFound when there is none; StorageUnavailable.
        """
        current = self.shelf.get(list_id).published or 0
        tried = [version for version in self.shelf.versions(list_id) if version.published_ms is not None]
        chosen = [one for one in tried if (one.version < current if number is None else one.version == number)]
        if not chosen:
            which = f"version {number} of this list was never" if number else "no version before this one was"
            raise ListNotFound(f"{which} in effect")
        return self._point(chosen[0], "a list was rolled back")

    def remove(self, list_id: int) -> None:
        """Remove a list with all its versions; it is in effect no more.

        Raises: ListNotFound.
        """
        row = self.shelf.get(list_id)
        unused = self.shelf.remove(list_id)
        log.info("a list was removed", extra={"list": row.name, **asdict(row.owner)})
        for sha256 in unused:
            try:
                self.compiled.forget(sha256)
            except StorageUnavailable as exc:  # the list is gone all the same
                log.warning("a compiled list stays in the store", extra={"sha256": sha256, "reason": str(exc)})

    def _latest(self, list_id: int) -> int:
        row = self.shelf.get(list_id)
        if not row.latest:
            raise ListNotFound("this list of words has no version yet")
        return row.latest

    def _point(self, version: VersionRow, what: str) -> ListRow:
        row = self.shelf.point(version.list_id, version.version)
        log.info(what, extra={"list": row.name, **asdict(row.owner), "version": version.version})
        return row


def counts_of(read: ListFile) -> dict[str, int]:
    """How much a list says."""
    return {
        "words": len(read.rules.deny),
        "allowed": len(read.rules.allow),
        "combinations": len(read.rules.combinations),
        "expressions": len(read.rules.expressions),
    }


def name_fault(name: str) -> str | None:
    """Say what is wrong with the name of a list, None when nothing is."""
    is_plain = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return None if is_plain and len(name) <= 64 else "must be 1 to 64 characters of 0-9 A-Z a-z _ -"


def _refuse_faulty(version: VersionRow, *, force: bool) -> None:
    blocking = [one for one in version.findings if one["severity"] == "error" or not force]
    if blocking:
        raise ListRefused([FieldProblem(one["place"], one["detail"]) for one in blocking])
