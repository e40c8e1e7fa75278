"""Counters of the engine in Prometheus' text format. Written by the engine's thread alone."""

from __future__ import annotations

from dataclasses import dataclass, fields

HELP = {
    "prefill_tokens": "Prompt tokens computed",
    "decode_tokens": "Generated tokens whose keys and values were computed",
    "cached_tokens": "Prompt tokens taken from the prefix cache instead of computed",
    "generated_tokens": "Tokens drawn",
    "forward_passes": "Forward passes",
    "batched_sequences": "Sequences in forward passes, summed over the passes",
    "busy_seconds": "Seconds in forward passes and draws",
    "requests_finished": "Sequences that ended by themselves",
    "requests_aborted": "Sequences whose client went away",
}


@dataclass
class Metrics:
    prefill_tokens: int = 0
    decode_tokens: int = 0
    cached_tokens: int = 0
    generated_tokens: int = 0
    forward_passes: int = 0
    batched_sequences: int = 0
    busy_seconds: float = 0.0
    requests_finished: int = 0
    requests_aborted: int = 0

    def text(self, gauges: dict[str, tuple[str, int]]) -> str:
        """The page of /metrics; gauges as name → (help, value)."""
        rows = [(f"{f.name}_total", "counter", HELP[f.name], getattr(self, f.name)) for f in fields(self)]
        rows.insert(2, ("computed_tokens_total", "counter", "Tokens computed: prefill and decode", self.computed))
        rows += [(name, "gauge", text, value) for name, (text, value) in gauges.items()]
        lines = [
            f"# HELP rehearsal_{name} {text}\n# TYPE rehearsal_{name} {kind}\nrehearsal_{name} {value}"
            for name, kind, text, value in rows
        ]
        return "\n".join(lines) + "\n"

    @property
    def computed(self) -> int:
        return self.prefill_tokens + self.decode_tokens
