"""The PyTorch side of `addnorm bench`: a child process that measures one slice at a time when asked.

One JSON object per line on stdin, one answer per line on stdout:
  {"do": "prepare", "kind": "add_layer_norm forward", "sizes": [2048, 384], "slots": 22}  -> {"ok": true}
  {"do": "warm", "variant": "compile", "threads": 2}                                      -> {"ok": true, "precision": "f32"}
  {"do": "slice", "variant": "eager", "cold": true, "threads": 2, "seconds": 0.02}        -> {"seconds": 3.1e-4}
Anything that fails answers {"error": "..."} and leaves the process alive.

A workload has `slots` copies of its inputs. Cold runs walk through them, hot runs stay on the first. The results of the
last pass over a slot are kept until that slot comes again and are freed just before, so malloc hands the same memory back:
outputs are as cold (or as hot) as inputs, and no page is mapped while the clock runs.
"""
import functools
import json
import os
import statistics
import sys
import time

answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)  # whatever libraries print must not reach the protocol


def answer(**fields):
    answers.write(json.dumps(fields) + "\n")


try:
    import torch
    import torch.nn.functional as F
except Exception as problem:
    answer(error=f"{type(problem).__name__}: {problem}")
    sys.exit(1)


def filled(*shape):
    """Random numbers without the cost of drawing each of them: a block of draws, repeated."""
    out = torch.empty(shape)
    flat, block = out.view(-1), torch.randn(1 << 16)
    for begin in range(0, flat.numel(), block.numel()):
        part = flat[begin:begin + block.numel()]
        part.copy_(block[:part.numel()])
    return out


class AddNorm:
    """s = x + f, y = norm(s): both results are kept, as the next layer and backward need them."""

    def __init__(self, rows, width, slots, norm, add, backward):
        self.d, self.norm, self.add = [width], norm, add
        self.gamma, self.beta = filled(width), filled(width)
        if not backward:
            self.slots = [(filled(rows, width), filled(rows, width) if add else None) for _ in range(slots)]
            self.variants = {"eager": self.forward}
            if norm == "layer" and add:
                self.variants["compile"] = torch.compile(self.forward, dynamic=False)
            return
        self.slots = [self.backward_inputs(rows, width) for _ in range(slots)]
        self.variants = {"eager": self.autograd}
        if norm == "layer":
            self.variants["by hand"] = lambda graph, *values: self.layer_backward(*values)
            if add:
                compiled = torch.compile(self.layer_backward, dynamic=False)
                self.variants["compile"] = lambda graph, *values: compiled(*values)

    def forward(self, x, f):
        s = x + f if self.add else x
        if self.norm == "rms":
            return s, F.rms_norm(s, self.d, self.gamma, 1e-5)
        return s, F.layer_norm(s, self.d, self.gamma, self.beta, 1e-5)

    def backward_inputs(self, rows, width):
        """The graph that forward has left, what arrives, and the values in the graph for calls by hand."""
        dy, dsum = filled(rows, width), filled(rows, width) if self.add else None
        with torch.enable_grad():
            leaves = [filled(rows, width).requires_grad_() for _ in range(2 if self.add else 1)]
            gains = [p.detach().requires_grad_() for p in ([self.gamma] if self.norm == "rms" else [self.gamma, self.beta])]
            s = leaves[0] + leaves[1] if self.add else leaves[0]
            y = F.rms_norm(s, self.d, *gains, 1e-5) if self.norm == "rms" else F.layer_norm(s, self.d, *gains, 1e-5)
        graph = (y, s) if self.add else (y,), leaves + gains
        if self.norm == "rms":
            return graph, dy, dsum
        values = s.detach()
        _, mean, rstd = torch.native_layer_norm(values, self.d, self.gamma, self.beta, 1e-5)
        return graph, dy, dsum, values, mean, rstd

    def autograd(self, graph, dy, dsum, *_):
        """Backward as a program runs it: the engine adds what arrives at the sum to what the norm gives."""
        outputs, inputs = graph
        return torch.autograd.grad(outputs, inputs, (dy, dsum) if self.add else (dy,), retain_graph=True)

    def layer_backward(self, dy, dsum, s, mean, rstd):
        """The cheapest calls that compute the same, made by hand: no engine, and the addition in place."""
        dx, dgamma, dbeta = torch.ops.aten.native_layer_norm_backward(
            dy, s, self.d, mean, rstd, self.gamma, self.beta, [True, True, True])
        return dx.add_(dsum) if self.add else dx, dgamma, dbeta  # x and f share dx, so one add is all there is


class Product:
    """torch.mm with out=, weights [out, in] as torch.nn.Linear has them: y = x w^T, dx = dy w, dw = dy^T x.

    Rows `padding` floats longer where their width is a multiple of 256, or not: warm() tries both and keeps the faster.
    """

    def __init__(self, way, tokens, n_in, n_out, padding):
        self.ways = [self.operands(way, tokens, n_in, n_out, p) for p in sorted({0, padding})]
        self.slots = self.ways[:1]
        self.variants = {"eager": lambda a, b, c: torch.mm(a, b, out=c)}

    @staticmethod
    def operands(way, tokens, n_in, n_out, padding):
        def matrix(rows, width):
            return filled(rows, width + (padding if width % 256 == 0 else 0))[:, :width]
        x, w, y = matrix(tokens, n_in), matrix(n_out, n_in), matrix(tokens, n_out)
        return {"forward": (x, w.t(), y), "dx": (y, w, x), "dw": (y.t(), x, w)}[way]

    def settle(self):
        if len(self.ways) == 1:
            return
        best = [min(self.seconds(way) for _ in range(4)) for way in self.ways]
        self.slots = [self.ways[best.index(min(best))]]

    def seconds(self, way):
        start = time.perf_counter()
        self.variants["eager"](*way)
        return time.perf_counter() - start


class Attention:
    """Causal scaled_dot_product_attention, forward and backward. Separate contiguous q, k, v: its fastest layout."""

    def __init__(self, batch, heads, length, d_head, slots):
        def make():
            return filled(batch, heads, length, d_head).requires_grad_()
        self.slots = [(make(), make(), make(), filled(batch, heads, length, d_head)) for _ in range(slots)]
        self.variants = {"eager": self.step}

    def step(self, q, k, v, dout):
        with torch.enable_grad():
            out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            return out, torch.autograd.grad(out, (q, k, v), dout)


class Model(torch.nn.Module):
    """A language model as a good PyTorch program has it: one product for q, k and v, scaled_dot_product_attention, a tied head."""

    def __init__(self, layers, d, heads, length, vocab, post_norm):
        super().__init__()
        nn = torch.nn
        self.heads, self.post_norm = heads, post_norm
        self.tokens, self.positions = nn.Embedding(vocab, d), nn.Parameter(torch.randn(length, d) * 0.02)
        self.tokens.weight.data.mul_(0.02)
        self.layers = nn.ModuleList(
            nn.ModuleDict({"norm1": nn.LayerNorm(d), "qkv": nn.Linear(d, 3 * d), "out": nn.Linear(d, d),
                           "norm2": nn.LayerNorm(d), "up": nn.Linear(d, 4 * d), "down": nn.Linear(4 * d, d)})
            for _ in range(layers))
        self.final = nn.Identity() if post_norm else nn.LayerNorm(d)

    def attend(self, layer, x):
        b, t, d = x.shape
        q, k, v = layer["qkv"](x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return layer["out"](o.transpose(1, 2).reshape(b, t, d))

    @staticmethod
    def feed_forward(layer, x):
        return layer["down"](F.gelu(layer["up"](x)))

    def forward(self, ids):
        x = self.tokens(ids) + self.positions
        for layer in self.layers:
            if self.post_norm:
                x = layer["norm1"](x + self.attend(layer, x))
                x = layer["norm2"](x + self.feed_forward(layer, x))
            else:
                x = x + self.attend(layer, layer["norm1"](x))
                x = x + self.feed_forward(layer, layer["norm2"](x))
        return F.linear(self.final(x), self.tokens.weight)


class TrainStep:
    """Forward, backward and fused AdamW; gradients are dropped before the step, not zeroed."""

    def __init__(self, layers, d, heads, length, batch, vocab, post_norm):
        with torch.enable_grad():
            self.model = Model(layers, d, heads, length, vocab, post_norm)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, weight_decay=0.01, fused=True)
        self.slots = [(torch.randint(vocab, (batch, length)), torch.randint(vocab, (batch * length,)))]
        losses = {"eager": self.loss, "compile": torch.compile(self.loss, dynamic=False),
                  "bf16": self.autocast_loss, "compile bf16": torch.compile(self.autocast_loss, dynamic=False)}
        self.variants = {name: functools.partial(self.step, loss) for name, loss in losses.items()}

    def loss(self, ids, targets):
        """And one of the logits, for its type."""
        logits = self.model(ids).flatten(0, 1)
        return F.cross_entropy(logits, targets), logits.detach()[0, 0]

    def autocast_loss(self, ids, targets):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.loss(ids, targets)

    def step(self, loss, ids, targets):
        with torch.enable_grad():
            self.optimizer.zero_grad(set_to_none=True)
            value, logit = loss(ids, targets)
            value.backward()
            self.optimizer.step()
        self.precision = {torch.float32: "f32", torch.bfloat16: "bf16"}[logit.dtype]


class Decode:
    """A sequence written token by token, batch 1: keys and values in tensors made once, the likeliest token taken."""

    def __init__(self, layers, d, heads, length, batch, vocab, post_norm):
        self.model, self.length = Model(layers, d, heads, length, vocab, post_norm).eval(), length
        self.cache = torch.zeros(layers, 2, batch, heads, length, d // heads)
        self.slots = [(torch.zeros(batch, dtype=torch.long),)]
        self.variants = {"eager": self.sequence}

    @torch.inference_mode()
    def sequence(self, token):
        for t in range(self.length):
            token = self.append(token, t)
        return token

    def append(self, token, t):
        m = self.model
        x = m.tokens.weight[token] + m.positions[t]
        b, d = x.shape
        for layer, (keys, values) in zip(m.layers, self.cache):
            q, k, v = layer["qkv"](layer["norm1"](x)).view(b, 3, m.heads, 1, d // m.heads).unbind(1)
            keys[:, :, t:t + 1], values[:, :, t:t + 1] = k, v
            o = F.scaled_dot_product_attention(q, keys[:, :, :t + 1], values[:, :, :t + 1])
            x = x + layer["out"](o.reshape(b, d))
            x = x + m.feed_forward(layer, layer["norm2"](x))
        return F.linear(m.final(x), m.tokens.weight).argmax(-1)


def prepare(kind, sizes, slots):
    name, way = kind.split(" ")
    if name == "train-step":
        return TrainStep(*sizes)
    if name == "decode":
        return Decode(*sizes)
    if name in ("add_layer_norm", "layer_norm", "add_rms_norm"):
        return AddNorm(*sizes, slots, "rms" if "rms" in name else "layer", name.startswith("add"), way == "backward")
    if name == "gemm":
        return Product(way, *sizes)
    if name == "attention":
        return Attention(*sizes, slots)
    raise ValueError(f"unknown workload {kind!r}")


class Runner:
    def __init__(self, workload):
        self.workload, self.kept, self.next = workload, [None] * len(workload.slots), 0
        self.whole_step = isinstance(workload, (TrainStep, Decode))  # a long call: it warms up itself, and one makes a slice

    def step(self, variant, cold):
        slot = self.next % len(self.kept) if cold else 0
        self.next += 1
        self.kept[slot] = None
        self.kept[slot] = self.workload.variants[variant](*self.workload.slots[slot])

    def warm(self, variant):
        for _ in range(len(self.kept) + 3):
            self.step(variant, True)
        if hasattr(self.workload, "settle"):
            self.workload.settle()

    def slice(self, variant, cold, seconds):
        """Median seconds per call. The first calls wake the threads and fill the caches; they do not count."""
        clock = time.perf_counter
        begin = clock()
        for _ in range(0 if self.whole_step else 2 if cold else 3):
            if clock() - begin < seconds / 2:
                self.step(variant, cold)
        times, begin = [], clock()
        while len(times) < (1 if self.whole_step else 2) or clock() - begin < seconds:
            start = clock()
            self.step(variant, cold)
            times.append(clock() - start)
        return statistics.median_low(times)


def main():
    runner = None
    answer(ok=True, torch=torch.__version__, python=sys.version.split()[0], mkl=torch.backends.mkl.is_available())
    for line in sys.stdin:
        try:
            ask = json.loads(line)
            if "threads" in ask and ask["threads"] != torch.get_num_threads():
                torch.set_num_threads(ask["threads"])
            if ask["do"] == "prepare":
                runner = None  # the old workload's memory goes first
                runner = Runner(prepare(ask["kind"], ask["sizes"], ask["slots"]))
                answer(ok=True)
            elif ask["do"] == "warm":
                runner.warm(ask["variant"])
                answer(ok=True, precision=getattr(runner.workload, "precision", "f32"))
            elif ask["do"] == "slice":
                answer(seconds=runner.slice(ask["variant"], ask["cold"], ask["seconds"]))
            else:
                answer(error=f"unknown request {ask['do']!r}")
        except Exception as problem:
            answer(error=f"{type(problem).__name__}: {problem}"[:500])


with torch.no_grad():
    main()
