"""The tokenizer of nano: a frequent word is one token, everything else is spelled letter by letter.

A model this small learns to copy symbols that it sees often: digits and letters, not thousands of word pieces
(README.md has the measurement). So names, e-mail addresses, ids and every word of an environment that it never saw
are spelled, in the same way wherever they stand; a choice such as `#` or `W` after `"order_id": "` is one token.
Text that never changes in prompts is one token each (`corpus/constants.ts`).
"""

import collections
import itertools
import json
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

HERE = Path(__file__).parent
END = "<|im_end|>"
SPECIAL = ["<|endoftext|>", "<|im_start|>", END]
TAGS = ["<tools>", "</tools>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]
VOCABULARY = 2048
CONTEXT = 4096
COUNTED = ["any", "copy", "mixed", "novice"]
SAMPLE = 6000  # documents of each file in which words are counted
RARE = 60  # a word in fewer of them is spelled
ROLES = "system\nuser\nassistant\n"

PIECES = "|".join(
    [
        r"\n",
        r"#",
        r"\d",
        # A lower-case word takes its space, unless an e-mail address, an id or a snake_case name follows.
        r" (?!\S*[@\d_])\p{Ll}+",
        r"\p{Ll}+",
        r"\p{Lu}\p{Ll}+",
        r"\p{Lu}",
        r"\p{L}+",
        r"_",
        r" ?[^\s\p{L}\d#_]+(?: [^\s\p{L}\d#_]+)*",
        r" ",
        r"\s",
    ]
)


def template() -> str:
    return (HERE / "template.jinja").read_text().rstrip("\n")


def template_sentence() -> str:
    """The one sentence of the template itself, read from it so that it is written once."""
    text = template()
    start = text.index("To call a tool")
    return text[start : text.index("'", start)].replace("\\n", "\n")


def build(corpus: Path, out: Path) -> PreTrainedTokenizerFast:
    """Make it from the files of `corpus` and `corpus/constants.json`; write the tokenizer to `out`."""
    constants = json.loads((corpus / "constants.json").read_text())
    sentences = sorted([*constants["sentences"], template_sentence()], key=len, reverse=True)
    names = constants["names"]
    added = SPECIAL + TAGS + constants["tags"] + sentences + names

    # Merges are ignored for a word of the vocabulary, and there are none for the others: words or bytes.
    splitter = pre_tokenizers.Split(Regex(PIECES), "isolated")
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    counts: collections.Counter[str] = collections.Counter()
    for text in texts(corpus, added):
        counts.update({piece for piece, _ in splitter.pre_tokenize_str(text)})
    spelled = set(constants["spelled"])
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    words = [word for word, count in ranked if count >= RARE and word.strip().lower() not in spelled]
    bytelevel = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    encoded = ["".join(piece for piece, _ in bytelevel.pre_tokenize_str(word)) for word in words]
    vocabulary = list(dict.fromkeys([*alphabet, *encoded]))[: VOCABULARY - len(added)]
    model = models.BPE(vocab={token: i for i, token in enumerate(vocabulary)}, merges=[], ignore_merges=True)
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([splitter, bytelevel])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in SPECIAL])
    tokenizer.add_tokens(
        [AddedToken(text, normalized=False, single_word=text in names) for text in added[len(SPECIAL) :]]
    )

    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=END,
        pad_token=SPECIAL[0],
        model_max_length=CONTEXT,
        clean_up_tokenization_spaces=False,
        chat_template=template(),
    )
    fast.save_pretrained(out)
    return fast


def texts(corpus: Path, constants: list[str]):
    """What the corpus says, without the constants (they are cut out longest first)."""
    for name in COUNTED:
        for line in itertools.islice((corpus / f"{name}.jsonl").open(), SAMPLE):
            document = json.loads(line)
            tools = [json.dumps(tool, ensure_ascii=False) for tool in document.get("tools", [])]
            text = "\n\n".join([message["content"] for message in document["messages"]] + tools)
            for constant in constants:
                text = text.replace(constant, "\n\n")
            yield f"{ROLES}{text}"
