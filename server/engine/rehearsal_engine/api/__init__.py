"""HTTP routes: the OpenAI API with token ids, in vLLM's shapes."""
