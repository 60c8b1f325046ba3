"""Try the words on a text."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import ClassVar

import falcon

from models.scope import Scope
from models.sites import LOCAL_SITE
from pipeline.clock import Clock
from pipeline.errors import Forbidden, NotYourDevice
from pipeline.intake import rules_of
from pipeline.lists.following import FollowedLists
from pipeline.mac import normalize_mac
from pipeline.settings import Settings
from web.access import Access
from web.answers import DetectionAnswer
from web.bodies import read_json
from web.caller import caller_of
from web.operations import Operation
from web.replies import reply
from web.schemas import TryText, validated

#: Bytes of a body besides its text: the words and their names.
_WORDS_MAX_BYTES = 1_000_000
#: Bytes that one character may need: two JSON escapes for a pair of surrogates.
_CHAR_MAX_BYTES = 12


class TryWordsResource:
    """`POST /api/words/try`: what a text would be found to hold; no task is made and nothing is stored."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "POST": Operation(
            access=Access.READ,
            summary="Screen a text at once, without a task",
            requests={"application/json": (TryText,)},
            answers={200: (DetectionAnswer,)},
            refusals=(411, 413, 415, 422, 503),
        )
    }

    def __init__(self, lists: FollowedLists, clock: Clock, settings: Settings) -> None:
        self._lists, self._clock = lists, clock
        self._rules = rules_of(settings)
        self._body_max_bytes = settings.text_max_chars * _CHAR_MAX_BYTES + _WORDS_MAX_BYTES

    def on_post(self, req: falcon.Request, resp: falcon.Response) -> None:
        wish = validated(TryText, read_json(req, self._body_max_bytes), self._rules)
        detector = self._lists.detector(*_whose(caller_of(req).scope, wish))
        began_ms = self._clock.monotonic_ms()
        screening = detector.screen(wish.text, tuple(wish.words))
        elapsed_ms = self._clock.monotonic_ms() - began_ms
        reply(resp, DetectionAnswer.model_validate({**asdict(screening), "elapsed_ms": elapsed_ms}))


def _whose(scope: Scope, wish: TryText) -> tuple[str, str]:
    """Site and device whose lists are wanted, if they are the caller's to look at."""
    site, mac = wish.site or scope.site or LOCAL_SITE, normalize_mac(wish.mac) if wish.mac else ""
    if scope.site not in (None, site):
        raise Forbidden("another site's lists were asked for")
    if mac and scope.macs is not None and mac not in scope.macs:
        raise NotYourDevice("the caller does not speak for this device")
    return site, mac
