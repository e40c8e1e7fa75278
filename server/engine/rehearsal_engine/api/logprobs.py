"""Log-probabilities in the three shapes that clients read."""

from __future__ import annotations

from rehearsal_engine.sampling import Report
from rehearsal_engine.sequence import Sequence, Step
from rehearsal_engine.tokens import Tokens

LOWEST = -9999.0  # JSON has no -Infinity; OpenAI writes this


def number(logprob: float | None) -> float | None:
    return None if logprob is None else max(logprob, LOWEST)


def name(tokens: Tokens, token: int, as_ids: bool) -> str:
    return f"token_id:{token}" if as_ids else tokens.text_of(token)


def entry(tokens: Tokens, report: Report, as_ids: bool) -> dict:
    """One token: OpenAI's chat form with `id`, `entropy` (nats) and `rank` (from 1) added."""

    def part(token: int, logprob: float | None) -> dict:
        raw = list(tokens.bytes_of(token))
        return {"id": token, "token": name(tokens, token, as_ids), "bytes": raw, "logprob": number(logprob)}

    head = part(report.id, report.logprob)
    head["entropy"], head["rank"] = report.entropy, report.rank
    head["top_logprobs"] = [part(token, logprob) for token, logprob in report.top]
    return head


def legacy(tokens: Tokens, reports: list[Report], pieces: list[str], as_ids: bool, offset: int = 0) -> dict:
    """The completions form of OpenAI and vLLM, and our `content` beside it, one entry a token."""
    offsets = []
    for piece in pieces:
        offsets.append(offset)
        offset += len(piece)
    tops = [
        None if r.logprob is None else {name(tokens, t, as_ids): number(p) for t, p in [*r.top, (r.id, r.logprob)]}
        for r in reports
    ]
    return {
        "text_offset": offsets,
        "token_logprobs": [number(r.logprob) for r in reports],
        "tokens": [name(tokens, r.id, as_ids) for r in reports],
        "top_logprobs": tops,
        "content": [entry(tokens, r, as_ids) for r in reports],
    }


def of_prompt(sequence: Sequence) -> list[Report]:
    """One report a prompt token; nothing precedes the first, so it has no numbers."""
    return [Report(sequence.prompt[0]), *sequence.prompt_reports]


def prompt_field(tokens: Tokens, sequence: Sequence, wanted: int | None) -> list | None:
    """vLLM's `prompt_logprobs`: by id, the token itself and the likeliest, with ranks."""
    if wanted is None:
        return None
    out: list = [None]
    for report in sequence.prompt_reports:
        top = [(token, logprob, rank) for rank, (token, logprob) in enumerate(report.top[:wanted], 1)]
        rows = [(report.id, report.logprob, report.rank), *(row for row in top if row[0] != report.id)]
        out.append({
            str(token): {"logprob": number(logprob), "rank": rank, "decoded_token": tokens.text_of(token)}
            for token, logprob, rank in rows
        })  # fmt: skip
    return out


def told(steps: list[Step]) -> tuple[list[Report], list[str]]:
    """Reports and text pieces of steps."""
    return [s.report for s in steps if s.report], [s.text for s in steps if s.report]
