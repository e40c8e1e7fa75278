"""A Qwen3 with random weights and a small tokenizer, for tests and benchmarks.

`python -m rehearsal_engine.random_model DIR [--tiny]` writes one that transformers loads as well.
"""

from __future__ import annotations

import argparse
from pathlib import Path

TEMPLATE = """{%- if tools %}<|im_start|>system
{%- if messages[0].role == 'system' %}
{{ messages[0].content }}{% endif %}
<tools>
{%- for tool in tools %}
{{ tool | tojson }}{% endfor %}
</tools><|im_end|>
{% elif messages[0].role == 'system' %}<|im_start|>system
{{ messages[0].content }}<|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.role == 'tool' %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% elif message.role != 'system' %}<|im_start|>{{ message.role }}
{{ message.content }}
{%- for call in message.tool_calls or [] %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor %}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""

NANO = dict(hidden_size=192, num_hidden_layers=4, intermediate_size=384, vocab_size=2048)
TINY = dict(hidden_size=64, num_hidden_layers=2, intermediate_size=96, vocab_size=512)
# Heads that vLLM's attention on CPUs takes.
WIDE = dict(
    hidden_size=256, num_hidden_layers=2, intermediate_size=512, vocab_size=512,
    num_attention_heads=4, num_key_value_heads=2, head_dim=64,
)  # fmt: skip


def tokenizer():
    """Byte-level BPE with a few merges, ChatML's tags and Hermes' tags."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=special, initial_alphabet=alphabet, show_progress=False)
    tok.train_from_iterator(["the order of the user is in the order book and the tool is called"] * 9, trainer)
    tok.add_tokens(["<tool_call>", "</tool_call>"])
    fast = PreTrainedTokenizerFast(tokenizer_object=tok, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    fast.chat_template = TEMPLATE
    return fast


def write(folder: Path, seed: int = 0, context: int = 4096, **shape) -> Path:
    """Writes config, float32 weights and tokenizer."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    tok = tokenizer()
    shape = dict(num_attention_heads=6, num_key_value_heads=2, head_dim=32) | shape
    config = Qwen3Config(
        max_position_embeddings=context, tie_word_embeddings=True, bos_token_id=None, eos_token_id=tok.eos_token_id,
        initializer_range=0.1, **shape,
    )  # fmt: skip
    torch.manual_seed(seed)
    model = Qwen3ForCausalLM(config)
    model.generation_config.eos_token_id = tok.eos_token_id
    model.save_pretrained(folder)
    tok.save_pretrained(folder)
    return folder


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("folder", type=Path)
    p.add_argument("--tiny", action="store_true", help="2 layers of 64 instead of nano's 4 of 192")
    p.add_argument("--wide", action="store_true", help="2 layers of 256 with heads of 64, for vLLM")
    p.add_argument("--seed", type=int, default=0)
    options = p.parse_args()
    write(options.folder, options.seed, **(TINY if options.tiny else WIDE if options.wide else NANO))
