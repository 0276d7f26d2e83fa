"""Makes tests/golden/*.safetensors: what PyTorch computes in float64 from inputs that are float32 numbers.

    "$(scripts/peers --python)" tools/make_goldens.py

Inputs are stored as float32, results and the settings of a case as float64. A tensor is called CASE/NAME. The gradient of NAME is dNAME; the loss is sum(y * dy) (plus sum(sum * dsum) for Add & Norm).
Whole layers (layers.safetensors) name their tensors in.*, param.*, out, grad_out, grad.in.*, grad.param.* with PyTorch's names of
parameters.
The same versions give the same bytes; tests/golden/README.md says which made the committed files.
"""
import math
import pathlib
import platform

import numpy
import safetensors
import safetensors.torch
import torch
import torch.nn.functional as F

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden"
WIDTHS = {1: 5, 3: 5, 17: 4, 512: 2}  # width: rows


class Recorder:
    """Collects the tensors of one file."""

    def __init__(self, name):
        self.name, self.tensors = name, {}
        self.random = torch.Generator().manual_seed(sum(map(ord, name)))

    def input(self, case, name, *shape, mean=0.0, spread=1.0):
        """Normal values, rounded to float32; returned in float64, ready for a gradient."""
        value = (mean + spread * torch.randn(shape, generator=self.random, dtype=torch.float64)).float()
        self.tensors[f"{case}/{name}"] = value
        return value.double().requires_grad_()

    def result(self, case, **values):
        for name, value in values.items():
            self.tensors[f"{case}/{name}"] = value.detach().double().contiguous()

    def set(self, case, **values):
        for name, value in values.items():
            self.tensors[f"{case}/{name}"] = torch.tensor(value, dtype=torch.float64)

    def save(self):
        (FOLDER / f"{self.name}.safetensors").write_bytes(safetensors.torch.save(self.tensors))


def add_norm(kind):
    out = Recorder(f"add_{kind}_norm")
    for width, rows in WIDTHS.items():
        case = f"width{width}"
        x, f = out.input(case, "x", rows, width, mean=3.0), out.input(case, "f", rows, width)
        gamma, dy = out.input(case, "gamma", width, mean=1.0, spread=0.2), out.input(case, "dy", rows, width)
        dsum = out.input(case, "dsum", rows, width)
        # The library's statistics are those of the sum as it is stored, in float32.
        total = (x + f).detach().float().double().requires_grad_()
        if kind == "layer":
            beta = out.input(case, "beta", width)
            y = F.layer_norm(total, (width,), gamma, beta, 1e-5)
        else:
            y = F.rms_norm(total, (width,), gamma, 1e-5)
        (torch.sum(y * dy) + torch.sum(total * dsum)).backward()
        out.tensors[f"{case}/sum"] = total.detach().float()
        out.result(case, y=y, dx=total.grad, dgamma=gamma.grad)
        if kind == "layer":
            out.result(case, dbeta=beta.grad)
    out.save()


def cross_entropy():
    out = Recorder("cross_entropy")
    for width, rows in WIDTHS.items():
        for smoothing in (0.0, 0.1):
            case = f"width{width}-smoothing{smoothing}"
            logits = out.input(case, "logits", rows, width, spread=3.0)
            targets = torch.randint(0, width, (rows,), generator=out.random)
            targets[0] = -100
            loss = F.cross_entropy(logits, targets, ignore_index=-100, label_smoothing=smoothing)
            loss.backward()
            out.set(case, smoothing=smoothing)
            out.tensors[f"{case}/targets"] = targets
            out.result(case, loss=loss, dlogits=logits.grad)
    out.save()


def gelu():
    out = Recorder("gelu")
    for form, approximate in (("exact", "none"), ("tanh", "tanh")):
        x, dy = out.input(form, "x", 129, spread=3.0), out.input(form, "dy", 129)
        y = F.gelu(x, approximate=approximate)
        torch.sum(y * dy).backward()
        out.result(form, y=y, dx=x.grad)
    out.save()


def attention():
    out = Recorder("attention")
    cases = {"causal": (2, 2, 7, 7, 8, True), "gqa": (6, 2, 5, 5, 3, True), "cross": (2, 1, 3, 17, 4, False), "one": (1, 1, 1, 1, 1, True)}
    for case, (heads, kv_heads, queries, keys, width, causal) in cases.items():
        batch = 2
        q = out.input(case, "q", batch, queries, heads * width)
        k, v = (out.input(case, name, batch, keys, kv_heads * width) for name in "kv")
        dy = out.input(case, "dy", batch, queries, heads * width)
        split = lambda x, n: x.view(batch, -1, n, width).transpose(1, 2)
        shared = lambda x: split(x, kv_heads).repeat_interleave(heads // kv_heads, dim=1)
        o = F.scaled_dot_product_attention(split(q, heads), shared(k), shared(v), is_causal=causal)
        y = o.transpose(1, 2).reshape(batch, queries, heads * width)
        torch.sum(y * dy).backward()
        out.set(case, heads=heads, kv_heads=kv_heads, causal=causal)
        out.result(case, y=y, dq=q.grad, dk=k.grad, dv=v.grad)
    out.save()


def linear():
    out = Recorder("linear")
    for rows, width_in, width_out in ((5, 1, 3), (4, 3, 17), (4, 17, 1), (2, 512, 3)):
        case = f"{rows}x{width_in}x{width_out}"
        x, w = out.input(case, "x", rows, width_in), out.input(case, "w", width_out, width_in, spread=1 / math.sqrt(width_in))
        bias, dy = out.input(case, "bias", width_out), out.input(case, "dy", rows, width_out)
        y = F.linear(x, w, bias)
        torch.sum(y * dy).backward()
        out.result(case, y=y, dx=x.grad, dw=w.grad, dbias=bias.grad)
    out.save()


def batch_norm():
    out = Recorder("batch_norm")
    for width, rows in {**WIDTHS, 512: 3}.items():
        case = f"width{width}"
        x, dy = out.input(case, "x", rows, width, mean=3.0), out.input(case, "dy", rows, width)
        gamma, beta = out.input(case, "gamma", width, mean=1.0, spread=0.2), out.input(case, "beta", width)
        mean, var = out.input(case, "running_mean", width).detach(), out.input(case, "running_var", width, mean=2.0, spread=0.1).detach()
        if width < 512:
            out.result(case, fixed=F.batch_norm(x, mean, var, gamma, beta, training=False))
        y = F.batch_norm(x, mean, var, gamma, beta, training=True, momentum=0.1)
        torch.sum(y * dy).backward()
        out.result(case, y=y, dx=x.grad, dgamma=gamma.grad, dbeta=beta.grad, new_mean=mean, new_var=var)
    out.save()


def adamw():
    out = Recorder("adamw")
    settings = dict(lr=0.01, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.1)
    start, gradients = out.input("steps", "p", 17), out.input("steps", "g", 50, 17)
    p = start.detach().clone().requires_grad_()
    optimizer = torch.optim.AdamW([p], lr=settings["lr"], betas=(settings["beta1"], settings["beta2"]), eps=settings["eps"],
                                  weight_decay=settings["weight_decay"])
    out.set("steps", **settings)
    for step, gradient in enumerate(gradients.detach(), start=1):
        p.grad = gradient.clone()
        optimizer.step()
        if step in (1, 10, 50):
            out.result("steps", **{f"p{step}": p.clone()})
    out.save()


def draw_parameters(out, case, module, gain_of_matrices):
    """Gives every parameter of a layer or stack other values: gains near 1, biases away from 0."""
    for name, p in module.named_parameters():
        gain = "norm" in name and name.endswith("weight")
        spread = gain_of_matrices / math.sqrt(p.shape[-1]) if p.dim() == 2 else 0.2
        p.data = out.input(case, f"param.{name}", *p.shape, mean=1.0 if gain else 0.0, spread=spread).detach()


def run_layer(out, case, module, x_shape, memory_shape=None, causal=False, lengths=None, **settings):
    """Forward and all gradients of an encoder layer, a stack of them, or (with a memory) a decoder layer. lengths: keys from there on
    are padding, of x or, in a decoder layer, of the memory."""
    module = module.double()
    # Twelve norms of few features amplify rounding so much that PyTorch's own float32 misses our bar of 2e-6 unless branches are small.
    draw_parameters(out, case, module, 0.5 if isinstance(module, torch.nn.TransformerEncoder) else 1.0)
    x = out.input(case, "in.x", *x_shape)
    inputs = {"x": x}
    mask = torch.nn.Transformer.generate_square_subsequent_mask(x_shape[1], dtype=torch.float64) if causal else None
    padding = None
    if lengths:
        keys = (memory_shape or x_shape)[1]
        padding = torch.arange(keys)[None, :] >= torch.tensor(lengths)[:, None]
        out.tensors[f"{case}/in.key_padding_mask"] = padding
    if memory_shape:
        inputs["memory"] = out.input(case, "in.memory", *memory_shape)
        y = module(x, inputs["memory"], tgt_mask=mask, memory_key_padding_mask=padding)
    elif isinstance(module, torch.nn.TransformerEncoder):
        y = module(x, mask=mask, src_key_padding_mask=padding)
    else:
        y = module(x, src_mask=mask, src_key_padding_mask=padding)
    torch.sum(y * out.input(case, "grad_out", *y.shape)).backward()
    out.result(case, out=y)
    out.result(case, **{f"grad.in.{name}": value.grad for name, value in inputs.items()})
    out.result(case, **{f"grad.param.{name}": p.grad for name, p in module.named_parameters()})
    out.set(case, causal=causal, nhead=settings["nhead"], norm_first=settings["norm_first"], gelu=settings["activation"] == "gelu",
            layers=settings.get("layers", 1))


def layers():
    """What the usual widths, lengths and depths do not show: odd widths, one token, long padding, 12 layers."""
    out = Recorder("layers")

    def layer(kind, width, ff, **settings):
        return kind(width, settings["nhead"], ff, dropout=0.0, activation=settings["activation"], batch_first=True,
                    norm_first=settings["norm_first"])

    for norm_first in (False, True):
        place = "pre" if norm_first else "post"
        both = [dict(nhead=n, norm_first=norm_first, activation=a) for n, a in ((3, "relu"), (2, "gelu"), (2, "relu"), (3, "gelu"))]
        for (shape, ff, extra), settings in zip((((2, 5, 15), 11, dict(causal=norm_first)), ((2, 1, 10), 9, {}),
                                                 ((3, 40, 6), 7, dict(lengths=[40, 3, 1]))), both):
            what = "padding" if "lengths" in extra else "one-token" if shape[1] == 1 else f"width{shape[2]}"
            module = layer(torch.nn.TransformerEncoderLayer, shape[2], ff, **settings)
            run_layer(out, f"encoder-layer-{place}-{what}", module, shape, **extra, **settings)
        for (shape, memory, ff, lengths), settings in zip((((2, 4, 15), (2, 5, 15), 11, None), ((2, 1, 10), (2, 1, 10), 9, None),
                                                           ((2, 3, 6), (2, 40, 6), 7, [40, 2])), reversed(both)):
            what = "padding" if lengths else "one-token" if shape[1] == 1 else f"width{shape[2]}"
            module = layer(torch.nn.TransformerDecoderLayer, shape[2], ff, **settings)
            run_layer(out, f"decoder-layer-{place}-{what}", module, shape, memory, causal=True, lengths=lengths, **settings)
        settings = dict(nhead=2, norm_first=norm_first, activation="gelu" if norm_first else "relu")
        stack = torch.nn.TransformerEncoder(layer(torch.nn.TransformerEncoderLayer, 10, 7, **settings), 12, enable_nested_tensor=False,
                                            norm=torch.nn.LayerNorm(10) if norm_first else None)
        run_layer(out, f"encoder-stack-{place}-12", stack, (2, 5, 10), causal=norm_first, layers=12, **settings)
    out.save()


def main():
    FOLDER.mkdir(exist_ok=True)
    torch.set_num_threads(1)
    add_norm("layer")
    add_norm("rms")
    for make in (cross_entropy, gelu, attention, linear, batch_norm, adamw, layers):
        make()
    total = sum(f.stat().st_size for f in FOLDER.glob("*.safetensors"))
    print(f"python {platform.python_version()}, torch {torch.__version__}, numpy {numpy.__version__}, safetensors {safetensors.__version__}: {total} bytes")


if __name__ == "__main__":
    main()
