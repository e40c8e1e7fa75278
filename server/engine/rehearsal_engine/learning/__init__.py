"""The learning side of the engine.

Read in this order: `tree` (samples of a batch as a trie), `attention` (over that trie), `logprobs`
(the forward pass), `losses`, `trainer` (adapters, optimizer, accumulation), `checkpoints`.
The Tinker routes over it are `api/tinker*.py`.
"""
