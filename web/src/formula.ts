// Formulas of arrangements as MathML. The program derives the text from the row that it computes with ("x' = LN(x + F(x))"); here it
// is only set: nothing is parsed as markup.
import { math } from './dom';

const kSubscripts: Record<string, string> = { '₀': '0', '₁': '1', '₂': '2', '₃': '3', ₒ: 'o', ₗ: 'l', ᵢ: 'i', ₙ: 'n' };
const kToken = /\s+|_\{[^}]*\}|_[A-Za-z0-9]+|[₀₁₂₃ₒₗᵢₙ]+|[A-Za-z]+|[α-ωΑ-Ωφ]|\d+(?:\.\d+)?|[¼½¾]|'|./gu;
const kNorms = /^(LN|RMS|SN|BN|PN|DyT|L2|N|LayerNorm)$/;
const kFunctions = /^(F|Attn|FFN|heads|Sub|SubLayer|W|h)$/;
const kLetters = /^(x|y|u|r|e|f|g|s|t|l|k|n|w|a|b|d|m|v|B|L|N|M|J|I|T|z|out|ln|lr)$/;

function leaf(token: string, call: boolean): Element {
  if (/^[\d¼½¾]/.test(token)) return math('mn', null, token);
  if (kNorms.test(token)) return math('mi', { class: 'norm', mathvariant: 'normal' }, token);
  if (kFunctions.test(token) || (call && /^[A-Z]/.test(token))) return math('mi', { class: 'branch' }, token);
  if (kLetters.test(token) || /^[^\x00-\x7f]$/u.test(token)) return math('mi', null, token);
  return math('mtext', null, token);
}

const kOperators = /^[=+·⊙−\-\/(),;:≤<>√Σ|×^∂]$/u;

/** Where the bracket that opens at `open` closes. */
function closing(tokens: string[], open: number): number {
  let depth = 0;
  for (let i = open; i < tokens.length; ++i) {
    if (tokens[i] === '(') ++depth;
    if (tokens[i] === ')' && --depth === 0) return i;
  }
  return tokens.length - 1;
}

function set(text: string): Element[] {
  return set_tokens(text.match(kToken) ?? []);
}

function set_tokens(tokens: string[]): Element[] {
  const out: Element[] = [];
  const attach = (kind: 'msub' | 'msup', script: Element): void => {
    const base = out.pop();
    out.push(math(kind, null, base ?? math('mi'), script));
  };
  let raised = false;
  for (let i = 0; i < tokens.length; ++i) {
    const t = tokens[i];
    if (/^\s+$/.test(t)) {
      const words = (s: string | undefined): boolean => !!s && /^[a-z]{2,}$/.test(s);
      if (words(tokens[i - 1]) || words(tokens[i + 1])) out.push(math('mspace', { width: '0.3em' }));
      continue;
    }
    if (t === "'") out.push(math('mo', { lspace: '0.05em', rspace: '0.05em' }, '′'));
    else if (t === '^') {
      raised = true;
      continue;
    } else if (t.startsWith('_{')) attach('msub', math('mrow', null, set(t.slice(2, -1))));
    else if (t.startsWith('_'))
      attach(
        'msub',
        math(
          'mrow',
          null,
          [...t.slice(1)].map((c) => leaf(c, false)),
        ),
      );
    else if (kSubscripts[t[0]] !== undefined) attach('msub', math('mi', null, [...t].map((c) => kSubscripts[c] ?? c).join('')));
    else if (t === '√' && tokens[i + 1] === '(') {
      const end = closing(tokens, i + 1);
      out.push(math('msqrt', null, set_tokens(tokens.slice(i + 2, end))));
      i = end;
    } else if (t === '√' && tokens[i + 1]) out.push(math('msqrt', null, leaf(tokens[++i], false)));
    else if (t === ';') out.push(math('mo', { separator: 'true' }, ';'), math('mspace', { width: '0.8em' }));
    else if (kOperators.test(t)) out.push(math('mo', t === '(' || t === ')' ? { stretchy: 'false' } : null, t));
    else out.push(leaf(t, tokens[i + 1] === '('));
    if (raised) {
      const script = out.pop();
      attach('msup', script ?? math('mi'));
      raised = false;
    }
  }
  return out;
}

/** Inline by default; what was given stays readable as its text. */
export function formula(text: string, display = false): Element {
  return math(
    'math',
    { display: display ? 'block' : 'inline', 'aria-label': text, class: 'formula' },
    math('mrow', null, set(text)),
  );
}

/** A formula of several statements, one to a line: "a; b". */
export function formula_lines(text: string): Element[] {
  const parts = text.split('; ');
  return parts.map((part) => formula(part));
}
