"""The peers' side of `addnorm bench embed`: one library in a child process, measured one slice at a time when asked.

Its argument names the library: torch (with transformers), onnxruntime, ctranslate2 or openvino. One JSON object per line on stdin,
one answer per line on stdout:
  {"do": "prepare", "folder": ".../model", "texts": [[101, ...], ...], "batch": 32, "sorted": false, "out": "...",
   "precision": "f32"}                                    -> {"ok": true}
  {"do": "warm", "variant": "eager", "threads": 2}        -> {"ok": true, "precision": "f32"}, and vectors of all texts in `out`
  {"do": "slice", "variant": "eager", "threads": 2, "seconds": 0.2}   -> {"seconds": 3.1e-3}
Anything that fails answers {"error": "..."} and leaves the process alive. The precision is what the first prepare asked for, f32 or
bf16 (torch and openvino alone); warm says in which one the products were computed.

Texts are called in batches, in their order or sorted by length, padded to the longest of each batch as a program would. What is
measured is the model alone: inputs are made before, and the mean over the tokens after it is not counted.
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
    elif LIBRARY == "openvino":
        import openvino
        version = openvino.__version__.split("-")[0]
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


def traceable(folder, attention):
    """A module with two arguments and one result, and arguments to trace it with."""
    import torch
    import transformers

    class Vectors(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = transformers.AutoModel.from_pretrained(folder, attn_implementation=attention).eval()

        def forward(self, input_ids, attention_mask):
            return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

    ids = torch.randint(1000, 20000, (2, 16))
    return Vectors().eval(), (ids, torch.ones_like(ids))


class Torch:
    """BertModel with scaled_dot_product_attention, in inference mode; no mask where nothing is padded. bf16 is autocast."""

    def __init__(self, folder, precision):
        self.model = transformers.AutoModel.from_pretrained(folder, attn_implementation="sdpa").eval()
        self.autocast = precision == "bf16"
        linear = [each for each in self.model.encoder.modules() if isinstance(each, torch.nn.Linear)][-1]
        self.linear, self.precision = linear, None

    def note_precision(self, batch):
        """Of a product in the midst of the model: sums and norms stay in f32 in either case."""
        names = {torch.float32: "f32", torch.bfloat16: "bf16"}
        hook = self.linear.register_forward_hook(lambda module, inputs, y: setattr(self, "precision", names[y.dtype]))
        self.run(*batch)
        hook.remove()

    def set_threads(self, threads):
        torch.set_num_threads(threads)

    def inputs(self, texts):
        ids, mask = padded(texts)
        return torch.from_numpy(ids), None if mask.all() else torch.from_numpy(mask)

    def run(self, ids, mask):
        with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.autocast):
            return self.model(input_ids=ids, attention_mask=mask).last_hidden_state

    def values(self, y):
        return y.float().numpy()


class OnnxRuntime:
    """The exported model as it is, and rewritten by onnxruntime.transformers; each optimised by the session, the faster one is used."""

    precision = "f32"

    def __init__(self, folder, _):
        self.plain = converted(folder, "model.onnx", lambda path: self.export(folder, path))
        self.fused = converted(folder, "fused.onnx", lambda path: self.fuse(path))
        self.sessions = {}

    @staticmethod
    def export(folder, path):
        import torch
        module, arguments = traceable(folder, "eager")
        axes = {0: "batch", 1: "tokens"}
        torch.onnx.export(module, arguments, path, dynamo=False, opset_version=17,
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
    precision = "f32"

    def __init__(self, folder, _):
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


class OpenVino:
    """Converted from PyTorch with scaled_dot_product_attention, weights in float32, tuned for latency. bf16 is its default where the
    processor has it; where it has not, OpenVINO computes in f32 whatever it is asked for, and says so."""

    def __init__(self, folder, precision):
        kept = converted(folder, "openvino", lambda path: self.convert(folder, path))
        self.path, self.asked, self.threads = os.path.join(kept, "model.xml"), precision, 0

    @staticmethod
    def convert(folder, path):
        module, arguments = traceable(folder, "sdpa")
        model = openvino.convert_model(module, example_input=dict(zip(("input_ids", "attention_mask"), arguments)))
        os.makedirs(path)
        openvino.save_model(model, os.path.join(path, "model.xml"), compress_to_fp16=False)

    def set_threads(self, threads):
        if self.threads == threads:
            return
        settings = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY",
                    "INFERENCE_PRECISION_HINT": self.asked}
        compiled = openvino.Core().compile_model(self.path, "CPU", settings)
        self.precision = compiled.get_property("INFERENCE_PRECISION_HINT").to_string()
        self.request, self.threads = compiled.create_infer_request(), threads

    def inputs(self, texts):
        return padded(texts)

    def run(self, ids, mask):
        return self.request.infer({"input_ids": ids, "attention_mask": mask}, share_inputs=True, share_outputs=True)[0]

    def values(self, y):
        return y


ENGINES = {"torch": Torch, "onnxruntime": OnnxRuntime, "ctranslate2": CTranslate2, "openvino": OpenVino}


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
        if hasattr(self.engine, "note_precision"):
            self.engine.note_precision(self.batches[0])
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
                engine = engine or ENGINES[LIBRARY](ask["folder"], ask["precision"])
                runner = Runner(engine, ask["texts"], ask["batch"], ask["sorted"], ask["out"])
                if hasattr(engine, "sessions"):
                    engine.sessions = {}  # another shape: choose again
                answer(ok=True)
            elif ask["do"] == "warm":
                engine.set_threads(ask["threads"])
                runner.warm()
                answer(ok=True, precision=engine.precision)
            elif ask["do"] == "slice":
                engine.set_threads(ask["threads"])
                answer(seconds=runner.slice(ask["seconds"]))
            else:
                answer(error=f"unknown request {ask['do']!r}")
        except Exception as problem:
            answer(error=f"{type(problem).__name__}: {problem}"[:500])


main()
