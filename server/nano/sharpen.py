"""Fold a temperature into a checkpoint: `python server/nano/sharpen.py IN OUT`.

The product samples at temperature 1, and what this model knows for certain it knows with little more than 99 % a
token: over the sixty tokens of a rehearsed answer that adds up. The final norm is scaled, so that temperature 1 of
the result is temperature 1 / SCALE of what was trained. Nothing else is touched, and greedy answers stay the same.
"""

import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from train import save

SCALE = 1.4

if __name__ == "__main__":
    source, target = sys.argv[1:3]
    model = AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32)
    with torch.no_grad():
        model.model.norm.weight.mul_(SCALE)
    save(model, AutoTokenizer.from_pretrained(source), Path(target))
