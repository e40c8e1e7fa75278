"""A client of the Tinker routes that sends what it likes."""

from rehearsal_engine.api.tinker_proto import CLASSES

TOKENS = [5, 9, 30, 31, 32, 40, 41, 7]


class Raw:
    """A client of one model that sends what it likes."""

    def __init__(self, client, **lora):
        self.client = client
        self.session = self.post("create_session", tags=[], sdk_version="0.38.0")["session_id"]
        self.creation = {"session_id": self.session, "model_seq_id": 0, "base_model": "tiny", "lora_config": {"rank": 4, "seed": 1, **lora}}
        self.model = self.result(self.post("create_model", **self.creation))["model_id"]

    def send(self, path, /, **body):
        return self.client.post(f"/api/v1/{path}", json=body)

    def post(self, path, /, **body):
        answer = self.send(path, **body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def wait(self, future):
        while True:
            answer = self.client.post("/api/v1/retrieve_future", json={"request_id": future["request_id"], "allow_metadata_only": True})
            assert answer.status_code == 200, answer.text
            if "protobuf" in answer.headers["content-type"]:
                return answer.content
            if answer.json().get("type") != "try_again":
                return answer.json()

    def result(self, future):
        value = self.wait(future)
        assert isinstance(value, bytes) or "error" not in value, value
        return value

    def batch(self, seq, loss="cross_entropy", ids=TOKENS, config=None, forward=False, **inputs):
        tensors = {"target_tokens": {"data": ids[1:], "dtype": "int64"}}
        tensors |= {k: {"data": v, "dtype": "float32"} for k, v in inputs.items()}
        datum = {"model_input": {"chunks": [{"type": "encoded_text", "tokens": ids[:-1]}]}, "loss_fn_inputs": tensors}
        body = {"data": [datum], "loss_fn": loss, "loss_fn_config": config}
        return {"model_id": self.model, "seq_id": seq, "forward_input" if forward else "forward_backward_input": body}

    def learn(self, seq, **options):
        return self.send("forward_backward", **self.batch(seq, **options))

    def optim(self, seq, rate=1e-2, **adam):
        return self.send("optim_step", model_id=self.model, seq_id=seq, adam_params={"learning_rate": rate, **adam})

    def loss(self, future):
        return CLASSES["ForwardBackwardOutput"].FromString(self.result(future)).metrics["loss:sum"]
