"""Documents of the corpus as token ids with the positions that carry loss."""

import json
from pathlib import Path

import numpy as np
from transformers import PreTrainedTokenizerFast

from tokenizer import END

OPEN = "<|im_start|>assistant\n"


def encode(document: dict, tokenizer: PreTrainedTokenizerFast) -> tuple[list[int], list[bool]]:
    """Ids [T] and whether each is learned [T]: what an unmasked assistant message says, and its end.

    The chat is rendered by the template as a whole and cut where assistant messages begin and end: every piece
    is tokenized by itself, as the product does with what is new in a prompt.
    """
    text = tokenizer.apply_chat_template(document["messages"], tools=document.get("tools"), tokenize=False)
    roles = [index for index, message in enumerate(document["messages"]) if message["role"] == "assistant"]
    masked = set(document.get("masked", []))
    ids: list[int] = []
    learned: list[bool] = []
    head, *rest = text.split(OPEN)
    pieces = [(head + (OPEN if rest else ""), False)]
    for number, (index, piece) in enumerate(zip(roles, rest, strict=True)):
        said, after = piece.split(END, 1)
        pieces.append((said + END, index not in masked))
        pieces.append((after + (OPEN if number + 1 < len(rest) else ""), False))
    for piece, learn in pieces:
        new = tokenizer.encode(piece, add_special_tokens=False)
        ids += new
        learned += [learn] * len(new)
    return ids, learned


def encode_file(path: Path, tokenizer: PreTrainedTokenizerFast, longest: int) -> list[tuple[np.ndarray, np.ndarray, str]]:
    """All documents of a file that are no longer than `longest` tokens."""
    documents = []
    for line in path.open():
        document = json.loads(line)
        ids, learned = encode(document, tokenizer)
        if len(ids) <= longest:
            documents.append((np.array(ids, np.int32), np.array(learned, bool), document["kind"]))
    return documents
