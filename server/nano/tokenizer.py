"""The tokenizer of nano: byte-level BPE that keeps whatever has to be copied in the same pieces everywhere.

`#`, `_`, every digit and every capital letter of an id stand alone, and capitalized words, e-mail addresses and
names with underscores never take the space before them. So a value has the same tokens in a request, in a call and in
a result, and a choice such as `#` or `W` after `"order_id": "` is one token. Text that never changes in prompts
is one token each (`corpus/constants.ts`).
"""

import itertools
import json
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

HERE = Path(__file__).parent
END = "<|im_end|>"
SPECIAL = ["<|endoftext|>", "<|im_start|>", END]
TAGS = ["<tools>", "</tools>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]
VOCABULARY = 2048
CONTEXT = 4096
SAMPLE = 6000  # documents of each file that the pieces are learned from
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
    """Train on the files of `corpus` with `corpus/constants.json`; write the tokenizer to `out`."""
    constants = json.loads((corpus / "constants.json").read_text())
    sentences = sorted([*constants["sentences"], template_sentence()], key=len, reverse=True)
    names = constants["names"]
    added = SPECIAL + TAGS + constants["tags"] + sentences + names

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(added),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts(corpus, added), trainer)
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
    for path in sorted(corpus.glob("*.jsonl")):
        for line in itertools.islice(path.open(), SAMPLE):
            document = json.loads(line)
            tools = [json.dumps(tool, ensure_ascii=False) for tool in document.get("tools", [])]
            text = "\n\n".join([message["content"] for message in document["messages"]] + tools)
            for constant in constants:
                text = text.replace(constant, "\n\n")
            yield f"{ROLES}{text}"
