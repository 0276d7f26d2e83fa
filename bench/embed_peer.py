"""The peers' side of `addnorm bench embed`: one library in a child process, measured one slice at a time when asked.

Its argument names the library: torch (with transformers), onnxruntime or ctranslate2. One JSON object per line on stdin, one
answer per line on stdout:
  {"do": "prepare", "folder": ".../model", "texts": [[101, ...], ...], "batch": 32, "sorted": false, "out": "..."} -> {"ok": true}
  {"do": "warm", "variant": "eager", "threads": 2}                    -> {"ok": true}, and vectors of all texts in the file `out`
  {"do": "slice", "variant": "eager", "threads": 2, "seconds": 0.2}   -> {"seconds": 3.1e-3}
Anything that fails answers {"error": "..."} and leaves the process alive.

Texts are called in batches, in their order or sorted by length, padded to the longest of each batch as a program would. What is
measured is the model alone: inputs are made before, and the mean over the tokens behind it is not counted.
Converted models are kept in the folder minilm of the virtual environment.
"""
import json
import os
import statistics
import sys
import time

answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)  # whatever libraries print must not reach the protocol
LIBRARY = sys.argv[1]


def answer(**fields):
    answers.write(json.dumps(fields) + "\n")


try:
    import numpy
    if LIBRARY == "torch":
        import torch
        import transformers
        version = torch.__version__
    elif LIBRARY == "onnxruntime":
        import onnxruntime
        version = onnxruntime.__version__
    else:
        import ctranslate2
        version = ctranslate2.__version__
except Exception as problem:
    answer(error=f"{type(problem).__name__}: {problem}")
    sys.exit(1)


def padded(texts):
    """ids and mask [texts, longest], int64."""
    longest = max(len(text) for text in texts)
    ids, mask = numpy.zeros((len(texts), longest), numpy.int64), numpy.zeros((len(texts), longest), numpy.int64)
    for row, text in enumerate(texts):
        ids[row, :len(text)], mask[row, :len(text)] = text, 1
    return ids, mask


def converted(folder, name, make):
    """make(path) once; the path of what it made. A half-made one never has that name."""
    kept = os.path.join(sys.prefix, "minilm")
    os.makedirs(kept, exist_ok=True)
    path, unfinished = os.path.join(kept, name), os.path.join(kept, f"unfinished-{os.getpid()}-{name}")
    if not os.path.exists(path):
        make(unfinished)
        os.rename(unfinished, path)
    return path


class Torch:
    """BertModel with scaled_dot_product_attention, in inference mode; no mask where nothing is padded."""

    def __init__(self, folder):
        self.model = transformers.AutoModel.from_pretrained(folder, attn_implementation="sdpa").eval()

    def set_threads(self, threads):
        torch.set_num_threads(threads)

    def inputs(self, texts):
        ids, mask = padded(texts)
        return torch.from_numpy(ids), None if mask.all() else torch.from_numpy(mask)

    def run(self, ids, mask):
        with torch.inference_mode():
            return self.model(input_ids=ids, attention_mask=mask).last_hidden_state

    def values(self, y):
        return y.numpy()


class OnnxRuntime:
    """The exported model as it is, and rewritten by onnxruntime.transformers; each optimised by the session, the faster one is used."""

    def __init__(self, folder):
        self.plain = converted(folder, "model.onnx", lambda path: self.export(folder, path))
        self.fused = converted(folder, "fused.onnx", lambda path: self.fuse(path))
        self.sessions = {}

    @staticmethod
    def export(folder, path):
        import torch
        import transformers

        class Vectors(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()

            def forward(self, input_ids, attention_mask):
                return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

        ids = torch.randint(1000, 20000, (2, 16))
        axes = {0: "batch", 1: "tokens"}
        torch.onnx.export(Vectors().eval(), (ids, torch.ones_like(ids)), path, dynamo=False, opset_version=17,
                          input_names=["input_ids", "attention_mask"], output_names=["vectors"],
                          dynamic_axes={"input_ids": axes, "attention_mask": axes})

    def fuse(self, path):
        from onnxruntime.transformers import optimizer
        optimizer.optimize_model(self.plain, model_type="bert", num_heads=12, hidden_size=384,
                                 opt_level=0).save_model_to_file(path)

    def session(self, path, threads):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def set_threads(self, threads):
        if self.sessions.get("threads") != threads:  # one pool of threads at a time
            self.sessions = {"threads": threads, "all": [self.session(path, threads) for path in (self.plain, self.fused)]}
            self.chosen = None

    def choose(self, batches):
        """The session that takes less time for these batches; both by turns."""
        if self.chosen is None:
            seconds = []
            for session in self.sessions["all"] * 3:
                begin = time.perf_counter()
                for batch in batches:
                    session.run(None, self.named(session, batch))
                seconds.append(time.perf_counter() - begin)
            least = [min(seconds[i::2][1:]) for i in range(2)]
            self.chosen = self.sessions["all"][least.index(min(least))]
            self.sessions["all"] = [self.chosen]

    @staticmethod
    def named(session, batch):
        values = dict(zip(("input_ids", "attention_mask"), batch))
        return {each.name: values[each.name] for each in session.get_inputs()}

    def inputs(self, texts):
        return padded(texts)

    def run(self, *batch):
        return self.chosen.run(None, self.named(self.chosen, batch))[0]

    def values(self, y):
        return y


class CTranslate2:
    """Its converter's encoder in float32; it pads by itself."""

    def __init__(self, folder):
        make = lambda path: ctranslate2.converters.TransformersConverter(folder).convert(path)
        self.path, self.threads = converted(folder, "ctranslate2", make), 0

    def set_threads(self, threads):
        if self.threads != threads:
            self.encoder = ctranslate2.Encoder(self.path, inter_threads=1, intra_threads=threads, compute_type="float32")
            self.threads = threads

    def inputs(self, texts):
        return (texts,)

    def run(self, texts):
        return self.encoder.forward_batch(texts).last_hidden_state

    def values(self, y):
        return numpy.array(y)


class Runner:
    def __init__(self, engine, texts, batch, by_length, out):
        order = sorted(range(len(texts)), key=lambda i: len(texts[i])) if by_length else list(range(len(texts)))
        self.engine, self.out = engine, out
        self.groups = [order[i:i + batch] for i in range(0, len(order), batch)]
        self.texts = texts
        self.batches = [engine.inputs([texts[i] for i in group]) for group in self.groups]

    def call(self):
        for batch in self.batches:
            self.engine.run(*batch)

    def save_vectors(self):
        """The mean over its tokens of each text, float32 [texts, width], in the order of the texts."""
        vectors = [None] * len(self.texts)
        for group, batch in zip(self.groups, self.batches):
            y = self.engine.values(self.engine.run(*batch))
            for row, i in enumerate(group):
                vectors[i] = y[row, :len(self.texts[i])].mean(axis=0, dtype=numpy.float64)
        numpy.array(vectors, numpy.float32).tofile(self.out)

    def warm(self):
        if hasattr(self.engine, "choose"):
            self.engine.choose(self.batches)
        self.save_vectors()
        self.call()

    def slice(self, seconds):
        clock, times = time.perf_counter, []
        begin = clock()
        while not times or clock() - begin < seconds:
            start = clock()
            self.call()
            times.append(clock() - start)
        return statistics.median_low(times)


def main():
    engine = runner = None
    answer(ok=True, **{LIBRARY: version})
    for line in sys.stdin:
        try:
            ask = json.loads(line)
            if ask["do"] == "prepare":
                engine = engine or {"torch": Torch, "onnxruntime": OnnxRuntime, "ctranslate2": CTranslate2}[LIBRARY](ask["folder"])
                runner = Runner(engine, ask["texts"], ask["batch"], ask["sorted"], ask["out"])
                if hasattr(engine, "sessions"):
                    engine.sessions = {}  # another shape: choose again
                answer(ok=True)
            elif ask["do"] == "warm":
                engine.set_threads(ask["threads"])
                runner.warm()
                answer(ok=True)
            elif ask["do"] == "slice":
                engine.set_threads(ask["threads"])
                answer(seconds=runner.slice(ask["seconds"]))
            else:
                answer(error=f"unknown request {ask['do']!r}")
        except Exception as problem:
            answer(error=f"{type(problem).__name__}: {problem}"[:500])


main()
