"""Plain `transformers` generation for the evaluation: JSON lines in, JSON lines out.

In:  {"prompts": [{"messages": [...], "tools": [...]}, …], "temperature": 0, "seed": 1, "max_tokens": 200}
Out: {"texts": ["…", …]}: what the model writes before its end token.
Nothing of our own engine takes part, so that the figures belong to the weights alone.
"""

import json
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

BATCH = 24


@torch.inference_mode()
def generate(model, tokenizer, request: dict) -> list[str]:
    torch.manual_seed(request.get("seed", 1))
    texts = [
        tokenizer.apply_chat_template(
            prompt["messages"], tools=prompt.get("tools") or None, add_generation_prompt=True, tokenize=False
        )
        for prompt in request["prompts"]
    ]
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    out = [""] * len(texts)
    temperature = request.get("temperature", 0)
    for start in range(0, len(order), BATCH):
        group = order[start : start + BATCH]
        batch = tokenizer(
            [texts[index] for index in group],
            return_tensors="pt",
            padding=True,
            padding_side="left",
            add_special_tokens=False,
            return_token_type_ids=False,
        )
        how = {"do_sample": True, "temperature": temperature, "top_k": 0} if temperature else {"do_sample": False}
        ids = model.generate(**batch, max_new_tokens=request.get("max_tokens", 200), **how)
        for index, row in zip(group, ids[:, batch["input_ids"].shape[1] :].tolist(), strict=True):
            end = row.index(tokenizer.eos_token_id) if tokenizer.eos_token_id in row else len(row)
            out[index] = tokenizer.decode(row[:end], skip_special_tokens=False)
    return out


def main() -> None:
    torch.set_num_threads(1)
    path = sys.argv[1]
    model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(path)
    for line in sys.stdin:
        print(json.dumps({"texts": generate(model, tokenizer, json.loads(line))}), flush=True)


if __name__ == "__main__":
    main()
