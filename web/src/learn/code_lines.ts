// Lines of our own sources, word for word: a test looks them up in the files that are named.

export interface CodeLine {
  file: string;
  text: string;
  does: string;
}

export const kSum: CodeLine = {
  file: 'src/residual/streams/slot_stream.cpp',
  does: 'The skip: the stream, plus what the branch gave.',
  text: 'x_ = residual_sum(x_, branch_, residual_.a(unit), residual_.b(unit), residual_.dropout(unit, pass_));',
};
export const kWrite: CodeLine = {
  file: 'src/model/stack.cpp',
  does: 'Every layer of every model: read the stream, compute, write to the stream. A branch at zero is a unit by-passed.',
  text: 'stream.write(unit, bypassed ? Var(Tensor::zeros(u.shape(), u.dtype())) : branch(unit, u, input, pass));',
};
export const kAddNorm: CodeLine = {
  file: 'src/residual/streams/slot_stream.cpp',
  does: 'Add & Norm: skip and branch are added and normed in one pass.',
  text: 'x_ = slots.post.add(skip, g, residual_.a(unit), residual_.b(unit), residual_.dropout(unit, pass_), pass_).y;',
};
export const kSkipChoice: CodeLine = {
  file: 'src/residual/streams/slot_stream.cpp',
  does: 'The one word that tells norm-skip from pre-LN: does the skip take the normed tensor, or the stream?',
  text: 'const Var skip = slots.row.skip == Skip::normed ? normed_ : x_;',
};
export const kClose: CodeLine = {
  file: 'src/residual/streams/slot_stream.cpp',
  does: 'The final norm, where the row has one.',
  text: 'Var SlotStream::do_close() { return residual_.exit().is_identity() ? settled() : settled(residual_.exit()); }',
};
export const kPreRow: CodeLine = {
  file: 'src/residual/catalogue/catalogue.cpp',
  does: 'Pre-LN is this much of a row: a norm before the branch, one at the exit.',
  text: '.unit = {.in = true},',
};
export const kRootOfVariance: CodeLine = {
  file: 'src/kernels/reference/add_norm.h',
  does: 'Step 2: one over the root of variance plus epsilon, in double.',
  text: 'const double rstd = reciprocal_root(second / width, static_cast<double>(n.eps), place);',
};
export const kNormed: CodeLine = {
  file: 'src/kernels/reference/add_norm.h',
  does: 'Step 3: centre, scale, multiply by the gain; the bias follows.',
  text: 'T y = centred * static_cast<T>(rstd) * gain_at(n.gamma, n.gain_is_one_plus_gamma, i);',
};
export const kBatchMean: CodeLine = {
  file: 'src/kernels/reference/batch_norm.h',
  does: 'Batch norm: the mean of one feature runs over the rows, that is, over other tokens.',
  text: 'if (!is_padding(padding, r)) mean[j] += static_cast<double>(x[r * width + j]);',
};
export const kWarmUp: CodeLine = {
  file: 'src/train/optimizer/schedule.cpp',
  does: 'Warm-up: the rate rises in a straight line to its full height.',
  text: 'if (step <= warmup) return rate * (s / w);',
};

export const kAllLines = [kSum, kWrite, kAddNorm, kSkipChoice, kClose, kPreRow, kRootOfVariance, kNormed, kBatchMean, kWarmUp];
