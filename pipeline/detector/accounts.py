"""Find QQ numbers and WeChat ids: what looks like one, after a word that says so."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal

from pipeline.detector.automaton import Automaton
from pipeline.detector.contact_types import Contact
from pipeline.detector.normalize import Folded

Service = Literal["qq", "wechat"]

_CUES: dict[Service, str] = {
    "wechat": "微信 薇信 威信 徽信 微信号 薇信号 vx wx v信 微x weixin wechat 加v 加微 加薇",
    "qq": "qq 扣扣 企鹅号 qq群 扣扣群 q群 加q 扣群",
}
#: What may stand between a cue and its id: words that lead on, and signs.
_LEAD = re.compile(
    r"(?:[\s:：=＝~～\-—>→_,，.·*|()（）【】\[\]\"'“”+]|号码?|账号|帐号|id|加|是|为|我的?|群){0,8}?(?=[0-9a-z])"
)
_WECHAT = re.compile(r"[a-z][0-9a-z_-]{5,19}(?![0-9a-z_-])|1[3-9][0-9]{9}(?![0-9a-z])|[1-9][0-9]{4,10}(?![0-9a-z])")
_QQ = re.compile(r"[1-9](?:[ \-.*_]?[0-9]){4,10}(?![0-9a-z])")


@cache
def _automaton() -> tuple[Automaton, Sequence[Service]]:
    cues = [(cue, service) for service, own in _CUES.items() for cue in own.split()]
    return Automaton.of_patterns([cue for cue, _ in cues]), [service for _, service in cues]


def accounts(folded: Folded, plain: str) -> Iterator[Contact]:
    """Give the ids that follow a cue word.

    Args:
        plain: the text, as long as the original, with digits `0` to `9` and small letters.
    """
    automaton, services = _automaton()
    seen: set[tuple[Service, int]] = set()
    for _, end, index in automaton.find(folded.text):
        service = services[index]
        lead = _LEAD.match(plain, int(folded.places[end - 1]) + 1)
        if lead is None or (service, lead.end()) in seen:
            continue
        seen.add((service, lead.end()))
        found = (_WECHAT if service == "wechat" else _QQ).match(plain, lead.end())
        if found:
            yield Contact(service, re.sub(r"[ .*]", "", found[0]), *found.span())
