"""What a diagnosis says."""

from __future__ import annotations

from typing import Literal

from reconciler.reads.parts import PartView, View, told

Confidence = Literal["certain", "likely", "possible"]
Step = Literal["investigate", "restart", "replace", "decide"]
_LONGEST = 300


class EvidenceView(View):
    """`source`: where it was seen. `text`: as it stands there, which is text from outside."""

    source: str
    about: str
    text: str
    at: str = ""


class DiagnosisFinding(View):
    """`reason`: CamelCase. `subject`: what it is about. `step`: the kind of the next step; `decide`: a person's word is
    missing. `command`: what a person could run; nothing here runs it."""

    reason: str
    subject: str
    says: str
    confidence: Confidence
    step: Step
    next_step: str
    command: str = ""
    evidence: tuple[EvidenceView, ...] = ()


class DiagnosisView(View):
    """`findings`: the surest first. `looked_at`: what was looked at; `parts`: how sure each source is. Where one cannot
    be seen, no finding is no proof."""

    cluster: str
    subject: str
    at: str
    findings: tuple[DiagnosisFinding, ...] = ()
    left_out: int = 0
    looked_at: tuple[str, ...] = ()
    parts: tuple[PartView, ...] = ()


def evidence(source: str, about: str, text: str, at: str = "") -> EvidenceView:
    return EvidenceView(source=source, about=about, text=told(text, _LONGEST), at=at)
