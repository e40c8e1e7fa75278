"""The engine of Rehearsal Studio: samples and scores tokens of a causal language model.

Read in this order: `cli` (start), `loading` (files to model), `model` (the forward pass; `decode` is
the same for one token a sequence on CPUs), `kv` and `radix` (what is kept of earlier requests),
`sampling` (draws), `scheduler` (who runs when), `api` (the OpenAI routes over it).
"""

__version__ = "0.1.0"
PROTOCOL = 1  # raised when a client of the last version would misread an answer
