"""Between text and token ids: the raw bytes of a token, text that grows, chat templates."""

from __future__ import annotations

import codecs
import json
import re

from rehearsal_engine.loading import Source, explained

BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def byte_alphabet() -> dict[str, int]:
    """The 256 printable characters that byte-level BPE writes for bytes (GPT-2's table)."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    table = {chr(b): b for b in printable}
    others = (b for b in range(256) if b not in set(printable))
    return table | {chr(256 + n): b for n, b in enumerate(others)}


class Tokens:
    """A model's tokenizer."""

    def __init__(self, source: Source):
        from transformers import AutoTokenizer

        self.hf = explained(source, lambda: AutoTokenizer.from_pretrained(source.location, **source.options))
        self.vocab_size = len(self.hf)
        self.special = set(self.hf.all_special_ids)
        self.added = {i: token.content for i, token in self.hf.added_tokens_decoder.items()}
        self.byte_level, self.byte_fallback = self._style()
        self._bytes: dict[int, bytes] = {}

    def _style(self) -> tuple[dict[str, int] | None, bool]:
        backend = getattr(self.hf, "backend_tokenizer", None)
        if backend is None:
            return None, False
        written = json.dumps(json.loads(backend.to_str()).get("decoder") or {})
        level = byte_alphabet() if '"ByteLevel"' in written else None
        return level, '"ByteFallback"' in written or '"Metaspace"' in written

    def bytes_of(self, token: int) -> bytes:
        """The bytes that a token stands for, parts of a UTF-8 character included."""
        known = self._bytes.get(token)
        if known is None:
            known = self._bytes[token] = self._find_bytes(token)
        return known

    def _find_bytes(self, token: int) -> bytes:
        if token in self.added:
            return self.added[token].encode()
        piece = self.hf.convert_ids_to_tokens(token)
        if piece is None:  # an id of the padded vocabulary that the tokenizer does not know
            return b""
        if self.byte_level is not None and all(c in self.byte_level for c in piece):
            return bytes(self.byte_level[c] for c in piece)
        if self.byte_fallback:
            byte = BYTE_TOKEN.fullmatch(piece)
            return bytes([int(byte[1], 16)]) if byte else piece.replace("▁", " ").encode()
        return self.hf.decode([token], clean_up_tokenization_spaces=False).encode()

    def text_of(self, token: int) -> str:
        """For people: parts of characters show as U+FFFD."""
        return self.bytes_of(token).decode("utf-8", "replace")

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return self.hf(text, add_special_tokens=add_special_tokens, verbose=False)["input_ids"]

    def decode(self, ids: list[int]) -> str:
        return b"".join(map(self.bytes_of, ids)).decode("utf-8", "replace")

    def chat(self, messages: list[dict], tools: list[dict] | None, **options) -> list[int]:
        """Ids of a conversation in the model's own template."""
        text = self.hf.apply_chat_template(messages, tools=tools or None, tokenize=False, **options)
        return self.encode(text, add_special_tokens=False)

    @property
    def has_template(self) -> bool:
        return bool(self.hf.chat_template)


class GrowingText:
    """Text of tokens as they come: a part of a UTF-8 character is '' until the rest is there."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.text = ""

    def add(self, raw: bytes) -> str:
        piece = self._decoder.decode(raw)
        self.text += piece
        return piece


def end_ids(source: Source, config, tokens: Tokens) -> list[int]:
    """The tokens that end a sequence: of the generation config, the config and the tokenizer."""
    from transformers import GenerationConfig

    found: set[int] = set()
    try:
        written = GenerationConfig.from_pretrained(source.location).eos_token_id
    except (OSError, ValueError):  # most GGUF files and many folders have none
        written = None
    for ids in (written, getattr(config, "eos_token_id", None), tokens.hf.eos_token_id):
        found.update(ids if isinstance(ids, (list, tuple)) else [] if ids is None else [ids])
    return sorted(found)
