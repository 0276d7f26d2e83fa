// What can be checked from the file alone.
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, Skip, test } from './harness.mjs';

const here = dirname(fileURLToPath(import.meta.url)),
  root = join(here, '..', '..');
const hash = (text) => `sha256-${createHash('sha256').update(text).digest('base64')}`;

test('the file names no other address', ({ file }) => {
  const found = readFileSync(file, 'utf8').match(/(src|href)="(https?:)?\/\/[^"]*"|url\(["']?https?:/g);
  expect(!found, `found ${found}`);
});

test('the policy is strict, and its hashes are those of the one script and the one style', ({ file }) => {
  const text = readFileSync(file, 'utf8');
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(text)?.[1] ?? '';
  expect(policy.includes("default-src 'none'") && !policy.includes('unsafe'), policy);
  const scripts = [...text.matchAll(/<script>([\s\S]*?)<\/script>/g)],
    styles = [...text.matchAll(/<style>([\s\S]*?)<\/style>/g)];
  expect(scripts.length === 1 && styles.length === 1, `${scripts.length} scripts, ${styles.length} styles`);
  expect(policy.includes(hash(scripts[0][1])), 'the hash of the script is not in the policy');
  expect(policy.includes(hash(styles[0][1])), 'the hash of the style is not in the policy');
});

test('no placeholder is left, and the data has no "<"', ({ file }) => {
  const text = readFileSync(file, 'utf8');
  expect(!/@@[A-Z_]+@@/.test(text), 'a placeholder is left');
  expect(!/id="data">([\s\S]*?)<\/script>/.exec(text)[1].includes('<'), 'a "<" is in the data');
});

test('a page of at most 40 runs has at most 2 MB', ({ file }) => {
  const size = readFileSync(file).length,
    runs = (readFileSync(file, 'utf8').match(/"curve":/g) ?? []).length;
  if (runs > 40) throw new Skip(`it has ${runs} runs`);
  expect(size <= 2e6, `${size} bytes`);
});

test('the lines of code that the Learn tab shows stand in the sources', () => {
  const text = readFileSync(join(here, '..', 'src', 'learn', 'code_lines.ts'), 'utf8');
  const lines = [...text.matchAll(/file:\s*'([^']+)',[\s\S]*?text:\s*'((?:[^'\\]|\\.)*)'/g)];
  expect(lines.length >= 10, `${lines.length} lines found`);
  for (const [, file, line] of lines)
    expect(readFileSync(join(root, file), 'utf8').includes(line.replace(/\\'/g, "'")), `${file} has no line "${line}"`);
});

test('TypeScript finds no fault in strict mode', () => {
  const tsc = join(here, 'node_modules', 'typescript', 'bin', 'tsc');
  if (!existsSync(tsc)) throw new Skip('typescript is not installed');
  try {
    execFileSync(process.execPath, [tsc, '-p', here], { encoding: 'utf8' });
  } catch (error) {
    throw new Error(error.stdout);
  }
});
