"""Makes tests/golden/optimizers.safetensors and tests/golden/gpt2_training.safetensors: what PyTorch's optimizers do, in float64, from
parameters and gradients that are float32 numbers.

    "$(scripts/peers --python)" tools/make_optimizer_goldens.py

optimizers: 50 steps of each kind on a matrix, a vector, a tensor of three axes and a lone row. A tensor is called CASE/NAME: the start
start.K and the gradients g.K [50, ...] of parameter K are shared by all cases ("data/..."); the parameters after steps 1, 10 and 50 are
CASE/pSTEP.K; settings are float64 numbers. Gradients are zero at steps 7 to 9, of the vector always in its first two elements, and 1e-20
times as large at step 30. The rate changes from step to step, as it does under a schedule: lr * (1 + sin(step)) / 2.

gpt2_training: a model of GPT-2's form (learned positions, pre-norm, GELU in its tanh form, final norm, head tied to the tokens), two
layers: start, logits, loss, all gradients of the first batch, and the losses and gradient norms of ten steps of AdamW.
The same versions give the same bytes; tests/golden/README.md says which made the committed files.
"""
import math

import torch
import torch.nn.functional as F

from make_goldens import FOLDER, Recorder

SHAPES = {"matrix": (5, 7), "vector": (9,), "cube": (2, 3, 4), "row": (1, 6)}
STEPS, SHOWN = 50, (1, 10, 50)


def cases():
    """Name: (class, arguments in PyTorch's names). gradients: what they are multiplied by, if not 1."""
    adam = dict(lr=0.02, betas=(0.9, 0.95), eps=1e-8)
    optim = torch.optim
    return {
        "sgd": (optim.SGD, dict(lr=0.05)),
        "sgd-momentum-decay": (optim.SGD, dict(lr=0.05, momentum=0.9, weight_decay=0.1)),
        "sgd-nesterov": (optim.SGD, dict(lr=0.05, momentum=0.8, weight_decay=0.1, nesterov=True)),
        "adam": (optim.Adam, dict(adam, weight_decay=0.1)),
        "adamw": (optim.AdamW, dict(adam, weight_decay=0.1)),
        "adamw-large-eps": (optim.AdamW, dict(adam, eps=0.1, weight_decay=0.0)),
        "radam": (optim.RAdam, dict(adam, weight_decay=0.1)),
        "radam-decoupled": (optim.RAdam, dict(adam, betas=(0.8, 0.99), eps=1e-2, weight_decay=0.1, decoupled_weight_decay=True)),
        "adafactor": (optim.Adafactor, dict(lr=0.05, eps=(2.0**-23, 1e-3), weight_decay=0.1)),
        "adafactor-loose": (optim.Adafactor, dict(lr=0.3, beta2_decay=-0.5, eps=(1e-2, 2.0), d=2.0, weight_decay=0.0)),
        # Squares far below eps1, as in training: the mean of the rows is bounded, the root is not.
        "adafactor-small": (optim.Adafactor, dict(lr=0.05, eps=(2.0**-23, 1e-3), weight_decay=0.0, gradients=2.0**-15)),
    }


def optimizers():
    out = Recorder("optimizers")
    starts, gradients = {}, {}
    for name, shape in SHAPES.items():
        starts[name] = out.input("data", f"start.{name}", *shape).detach()
        drawn = torch.randn((STEPS, *shape), generator=out.random, dtype=torch.float64)
        drawn[6:9] = 0
        drawn[29] *= 1e-20
        if name == "vector":
            drawn[:, :2] = 0
        out.tensors[f"data/g.{name}"] = drawn.float()
        gradients[name] = drawn.float().double()
    for case, (kind, arguments) in cases().items():
        factor = arguments.pop("gradients", 1.0)
        parameters = {name: start.clone().requires_grad_() for name, start in starts.items()}
        optimizer = kind(list(parameters.values()), **arguments)
        for step in range(1, STEPS + 1):
            for group in optimizer.param_groups:
                group["lr"] = arguments["lr"] * (1 + math.sin(step)) / 2
            for name, p in parameters.items():
                p.grad = gradients[name][step - 1] * factor
            optimizer.step()
            if step in SHOWN:
                out.result(case, **{f"p{step}.{name}": p.clone() for name, p in parameters.items()})
        settings = {name: value for name, value in arguments.items() if name not in ("betas", "eps")}
        settings["gradients"] = factor
        settings.update(zip(("beta1", "beta2"), arguments.get("betas", ())))
        eps = arguments.get("eps", ())
        settings.update({"eps": eps} if isinstance(eps, float) else dict(zip(("eps1", "eps2"), eps)))
        out.set(case, **{name: float(value) for name, value in settings.items()})
    out.save()


class Block(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.c_attn, self.attn_c_proj = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.c_fc, self.mlp_c_proj = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.c_attn(self.ln_1(x)).split(width, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, width)
        x = x + self.attn_c_proj(y)
        return x + self.mlp_c_proj(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class Gpt2(torch.nn.Module):
    def __init__(self, vocabulary, length, width, heads, layers):
        super().__init__()
        self.wte, self.wpe = torch.nn.Embedding(vocabulary, width), torch.nn.Embedding(length, width)
        self.h = torch.nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.ln_f = torch.nn.LayerNorm(width)

    def forward(self, ids):
        x = self.wte(ids) + self.wpe(torch.arange(ids.shape[1]))
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.weight.T


def gpt2_training():
    out = Recorder("gpt2_training")
    vocabulary, length, width, heads, layers, batch = 31, 8, 24, 4, 2, 3
    model = Gpt2(vocabulary, length, width, heads, layers).double()
    for name, p in model.named_parameters():
        gain = "ln_" in name and name.endswith("weight")
        p.data = out.input("gpt2", f"param.{name}", *p.shape, mean=1.0 if gain else 0.0, spread=0.1).detach()
    text = torch.randint(0, vocabulary, (10, batch, length + 1), generator=out.random)
    out.tensors["gpt2/text"] = text
    settings = dict(lr=3e-3, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.1)
    groups = [dict(params=[p for p in model.parameters() if p.dim() >= 2], weight_decay=settings["weight_decay"]),
              dict(params=[p for p in model.parameters() if p.dim() < 2], weight_decay=0.0)]
    optimizer = torch.optim.AdamW(groups, lr=settings["lr"], betas=(settings["beta1"], settings["beta2"]), eps=settings["eps"])
    losses, norms = [], []
    for step, ids in enumerate(text):
        logits = model(ids[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        if step == 0:
            out.result("gpt2", logits=logits, **{f"grad.{name}": p.grad.clone() for name, p in model.named_parameters()})
        losses.append(loss.item())
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item())
        optimizer.step()
    out.set("gpt2", losses=losses, norms=norms, heads=heads, clip=1.0, **settings)
    out.save()


def main():
    torch.set_num_threads(1)
    optimizers()
    gpt2_training()
    for name in ("optimizers", "gpt2_training"):
        print(name, (FOLDER / f"{name}.safetensors").stat().st_size, "bytes")


if __name__ == "__main__":
    main()
