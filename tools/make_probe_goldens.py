"""Makes tests/golden/probes.safetensors: what probes measure of two small language models, computed by PyTorch in float64.

    "$(scripts/peers --python)" tools/make_probe_goldens.py

Two layers, post-ln and pre-ln; learned positions, GELU, a head tied to the tokens. param.NAME are the weights under our names, ids and
labels [4, 6] the batch (one label is -100), and every other tensor a field of the record (include/addnorm/probe/record.h), computed here
from its formula: gradients by autograd through clones of the stream, ranks by svdvals, by-passes and lenses by running the model so.
role.ROLE.* are numbers of one role; drift_* those of a second step, behind one step of plain gradient descent with rate `rate`.
The same versions give the same bytes; tests/golden/README.md says which made the committed files.
"""
import math

import torch
import torch.nn.functional as F

from make_goldens import FOLDER, Recorder

VOCAB, LAYERS, WIDTH, HEADS, FF, TOKENS, BATCH, RATE = 11, 2, 12, 2, 20, 6, 4, 0.05
UNITS = [(layer, sub) for layer in range(LAYERS) for sub in ("self", "ffn")]


def draw(out, case, pre):
    """Weights under our names; gains near 1, biases away from 0."""
    shapes = {"tokens.embedding.weight": (VOCAB, WIDTH), "tokens.positions.weight": (TOKENS, WIDTH)}
    for layer, sub in UNITS:
        norm = f"residual.layers.{layer}.{sub}.{'in' if pre else 'post'}"
        shapes |= {f"{norm}.weight": (WIDTH,), f"{norm}.bias": (WIDTH,)}
        maps = {"qkv": (3 * WIDTH, WIDTH), "out": (WIDTH, WIDTH)} if sub == "self" else {"in": (FF, WIDTH), "out": (WIDTH, FF)}
        for name, shape in maps.items():
            shapes |= {f"layers.{layer}.{sub}.{name}.weight": shape, f"layers.{layer}.{sub}.{name}.bias": shape[:1]}
    if pre:
        shapes |= {"residual.exit.weight": (WIDTH,), "residual.exit.bias": (WIDTH,)}
    parameters = {}
    for name, shape in shapes.items():
        gain = name.startswith("residual") and name.endswith("weight")
        spread = 1 / math.sqrt(shape[-1]) if len(shape) == 2 else 0.2
        spread = 1.0 if name.startswith("tokens") else spread
        parameters[name] = out.input(case, f"param.{name}", *shape, mean=1.0 if gain else 0.0, spread=spread)
    return parameters


class Model:
    """Keeps what happens on its stream."""

    def __init__(self, parameters, pre):
        self.p, self.pre = parameters, pre

    def norm(self, path, x):
        return F.layer_norm(x, (WIDTH,), self.p[f"{path}.weight"], self.p[f"{path}.bias"], 1e-5)

    def linear(self, path, x):
        return F.linear(x, self.p[f"{path}.weight"], self.p[f"{path}.bias"])

    def attention(self, path, x):
        heads = lambda v: v.view(len(x), -1, HEADS, WIDTH // HEADS).transpose(1, 2)
        q, k, v = map(heads, self.linear(f"{path}.qkv", x).chunk(3, dim=-1))
        scores = q @ k.transpose(-1, -2) / math.sqrt(WIDTH // HEADS)
        visible = torch.ones(TOKENS, TOKENS).tril().bool()
        weights = scores.masked_fill(~visible, -torch.inf).softmax(-1)
        entropy = -torch.xlogy(weights, weights).sum(-1)[..., 1:] / torch.log(torch.arange(2, TOKENS + 1).double())
        self.entropies.append(entropy.mean()), self.max_logits.append(scores.masked_fill(~visible, 0).abs().max())
        return self.linear(f"{path}.out", (weights @ v).transpose(1, 2).reshape(x.shape))

    def __call__(self, ids, bypassed=None, last=None):
        self.streams, self.skips, self.forks, self.branches, self.reads, self.sums = [], [], [], [], [], []
        self.entropies, self.max_logits = [], []
        x = self.p["tokens.embedding.weight"][ids] + self.p["tokens.positions.weight"]
        self.streams.append(x)
        for i, (layer, sub) in enumerate(UNITS):
            if last is not None and i > last:
                break
            skip, fork = x.clone(), x.clone()
            path, norm = f"layers.{layer}.{sub}", f"residual.layers.{layer}.{sub}.{'in' if self.pre else 'post'}"
            u = self.norm(norm, fork) if self.pre else fork
            f = self.attention(path, u) if sub == "self" else self.linear(f"{path}.out", F.gelu(self.linear(f"{path}.in", u)))
            if i == bypassed:
                f = torch.zeros_like(f)
            x = skip + f
            self.sums.append(x)
            if not self.pre:
                x = self.norm(norm, x)
            for kept, value in zip((self.streams, self.skips, self.forks, self.branches, self.reads), (x, skip, fork, f, u)):
                kept.append(value)
        return F.linear(self.norm("residual.exit", x) if self.pre else x, self.p["tokens.embedding.weight"])


def rms(x):
    return x.square().mean().sqrt()


def of_place(x):
    """Everything that is measured of one stream."""
    rows = x.reshape(-1, WIDTH)
    centred = rows - rows.mean(0)
    unit, sizes, s = F.normalize(rows, dim=1), rows.abs().flatten().sort().values, torch.linalg.svdvals(rows)
    pairs, share = unit @ unit.T, s / s.sum()
    return dict(stream_rms=rms(x), stream_mean=x.mean(), spread=rms(centred) / rms(x), max_over_median=sizes[-1] / sizes[len(sizes) // 2],
                kurtosis=((centred**4).mean(0) / (centred**2).mean(0) ** 2).mean(),
                token_similarity=(pairs.sum() - pairs.trace()) / (len(rows) * (len(rows) - 1)),
                stable_rank=s.square().sum() / s[0] ** 2, effective_rank=torch.exp(-torch.xlogy(share, share).sum()))


def components_of(model):
    """[place][component] as tensors: embedding, branches, biases of norms; and those behind the exit."""
    def through(path, y, parts):
        gain, sigma = model.p[f"{path}.weight"], (y.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
        parts = [gain * (c - c.mean(-1, keepdim=True)) / sigma for c in parts]
        return parts[:-1] + [parts[-1] + model.p[f"{path}.bias"]]

    x = model.streams[0]
    parts = [x] + [torch.zeros_like(x)] * (len(UNITS) + 1)
    places = [parts]
    for i, (layer, sub) in enumerate(UNITS):
        parts = parts[: 1 + i] + [model.branches[i]] + parts[2 + i :]
        if not model.pre:
            parts = through(f"residual.layers.{layer}.{sub}.post", model.sums[i], parts)
        places.append(parts)
    return places, through("residual.exit", model.streams[-1], parts) if model.pre else parts


def margin(logits, labels):
    counted = labels != -100
    z = logits[counted]
    return (z.gather(1, labels[counted][:, None])[:, 0] - z.mean(1)).mean()


def stacked(values):
    return torch.stack([v.detach() for v in values])


def of_roles(out, case, model, gradients, parts):
    """Norms of gradients, and signal to noise over sequences, of some roles."""
    roles = {"ffn_out": lambda n: n.endswith("ffn.out.weight"), "token_embedding": lambda n: n == "tokens.embedding.weight",
             "norm_gain": lambda n: n.startswith("residual") and n.endswith("weight"), "bias": lambda n: n.startswith("layers") and n.endswith("bias")}
    for role, mine in roles.items():
        flat = lambda g: torch.cat([g[n].flatten() for n in model.p if mine(n)])
        each = torch.stack([flat(g) for g in parts])
        mean = each.mean(0)
        noise = (each - mean).square().sum() / (len(parts) * (len(parts) - 1))
        out.result(case, **{f"role.{role}.gradient_norm": flat(gradients).norm(),
                            f"role.{role}.gradient_snr": ((mean.square().sum() - noise) / noise).clamp(min=0)})


def probes(pre):
    case = "pre-ln" if pre else "post-ln"
    model = Model(draw(out, case, pre), pre)
    ids, labels = (torch.randint(0, VOCAB, (BATCH, TOKENS), generator=out.random) for _ in range(2))
    labels[1, 2] = -100
    out.tensors[f"{case}/ids"], out.tensors[f"{case}/labels"] = ids, labels
    loss_of = lambda logits, some=labels: F.cross_entropy(logits.flatten(0, 1), some.flatten())

    def gradients_of(some):
        loss = loss_of(model(ids[some]), labels[some])
        return dict(zip(model.p, torch.autograd.grad(loss, list(model.p.values()))))

    logits = model(ids)
    kept = model.streams + model.skips + model.forks
    for x in kept:
        x.retain_grad()
    loss = loss_of(logits)
    loss.backward()
    gradients = {name: p.grad for name, p in model.p.items()}
    streams, branches, first_reads = model.streams, model.branches, model.reads
    by_place = [of_place(x) for x in streams]
    out.result(case, loss=loss, **{name: stacked([place[name] for place in by_place]) for name in by_place[0]})
    out.result(case, gradient_norm=stacked([x.grad.norm() for x in streams]),
               gradient_skip=stacked([x.grad.norm() for x in model.skips]),
               gradient_branch=stacked([x.grad.norm() for x in model.forks]),
               branch_rms=stacked([rms(f) for f in branches]),
               update_ratio=stacked([f.norm() / x.norm() for f, x in zip(branches, streams)]),
               cosine=stacked([F.cosine_similarity(a, b, dim=-1).mean() for a, b in zip(streams, streams[1:])]),
               skip_share=stacked([x.norm() / y.norm() for x, y in zip(streams, model.sums)]),
               attention_entropy=stacked(model.entropies), max_logit=stacked(model.max_logits))
    places, behind_exit = components_of(model)
    shares = [torch.stack([c.var(unbiased=False) for c in parts]) for parts in places]
    head = model.p["tokens.embedding.weight"]
    out.result(case, dependency=stacked([s / s.sum() for s in shares]),
               logit_attribution=stacked([margin(F.linear(c, head), labels) for c in behind_exit]))
    with torch.no_grad():
        lenses = [model(ids, last=i) for i in range(len(UNITS))]
        final = logits[labels != -100].log_softmax(-1)
        out.result(case, bypass_change=stacked([loss_of(model(ids, bypassed=i)) - loss for i in range(len(UNITS))]),
                   lens_loss=stacked([loss_of(z) for z in lenses]),
                   lens_kl=stacked([F.kl_div(z[labels != -100].log_softmax(-1), final, log_target=True, reduction="batchmean") for z in lenses]))
    of_roles(out, case, model, gradients, [gradients_of(slice(b, b + 1)) for b in range(BATCH)])
    with torch.no_grad():
        for name, p in model.p.items():
            p -= RATE * gradients[name]
        after = model(ids)
        moments = lambda reads: [(u.reshape(-1, WIDTH).mean(0), u.reshape(-1, WIDTH).std(0, unbiased=False)) for u in reads]
        before, now = moments(first_reads), moments(model.reads)
        out.result(case, model_change=(after - logits).norm() / logits.norm(),
                   drift_mean=stacked([(m - m0).norm() / s0.norm() for (m0, s0), (m, _) in zip(before, now)]),
                   drift_deviation=stacked([(s - s0).norm() / s0.norm() for (_, s0), (_, s) in zip(before, now)]))
    out.set(case, rate=RATE)


if __name__ == "__main__":
    torch.set_num_threads(1)
    out = Recorder("probes")
    probes(pre=False)
    probes(pre=True)
    out.save()
    print(f"torch {torch.__version__}: {(FOLDER / 'probes.safetensors').stat().st_size} bytes")
