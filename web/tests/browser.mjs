// Opens report pages in Debian's chromium, and listens for everything that a page could complain about.
import { readFileSync, writeFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, Skip } from './harness.mjs';

const kFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
];

export async function launch() {
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: kFlags });
}

/** A page at a view. `problems` collects console errors, exceptions, dialogs and any request that is not the file itself. */
export async function open(context, fragment = '', options = {}) {
  const page = await context.browser.newPage({
    viewport: { width: options.width ?? 1280, height: 900 },
    colorScheme: options.dark ? 'dark' : 'light',
    acceptDownloads: true,
    hasTouch: !!options.touch,
  });
  page.setDefaultTimeout(15000);
  const problems = [];
  page.on('console', (m) => ['error', 'warning'].includes(m.type()) && problems.push(`console: ${m.text()}`));
  page.on('pageerror', (e) => problems.push(`exception: ${e.message}`));
  page.on('dialog', (d) => {
    problems.push(`dialog: ${d.message()}`);
    d.dismiss();
  });
  page.on('request', (r) => {
    if (!/^(file|data|blob):/.test(r.url())) problems.push(`request: ${r.url()}`);
  });
  await page.goto(pathToFileURL(options.file ?? context.file).href + (fragment ? `#${fragment}` : ''));
  await page.waitForSelector('html[data-ready]', { timeout: 30000 });
  await drawn(page);
  return { page, problems };
}

/** Figures are drawn when their width is known: one or two frames later. */
export async function drawn(page) {
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 120)))),
  );
}

export function read_data(file) {
  const text = readFileSync(file, 'utf8');
  const match = /<script type="application\/json" id="data">([\s\S]*?)<\/script>/.exec(text);
  if (!match) throw new Error(`${file} has no data`);
  return JSON.parse(match[1]);
}

/** The same page with other data: its policy names the script and the style by their hashes, and the data is neither. */
export function with_data(file, data, name) {
  const text = readFileSync(file, 'utf8');
  const json = JSON.stringify(data).replace(/</g, '\\u003c');
  const out = text.replace(/(<script type="application\/json" id="data">)[\s\S]*?(<\/script>)/, (_, a, b) => a + json + b);
  const path = join(mkdtempSync(join(tmpdir(), 'addnorm-page-')), `${name}.html`);
  writeFileSync(path, out);
  return path;
}

/** Opens the first lab of the page after `change` was done to it, and to all of the data. */
export async function changed(context, fragment, change, options = {}) {
  if (!context.first) throw new Skip('done on the first page');
  const data = read_data(context.file);
  if (!data.labs?.length) throw new Skip('this page has no lab');
  const lab = data.labs[0];
  lab.rows.forEach((row) => delete row.weights_in_words); // cases that change weights say them in one field, as earlier records do
  const all = { ...data, labs: [lab], trains: [], preflights: [] };
  change(lab, all);
  const opened = await open(context, fragment, { ...options, file: with_data(context.file, all, 'case') });
  const problem = await problem_of(opened.page);
  expect(!problem && !opened.problems.length, problem, opened.problems.join('\n'));
  return opened.page;
}

/** Rows of the first part alone, one of each arrangement. What the lab said of all its rows is left out. */
export function first_rows(lab) {
  delete lab.headline;
  const act = Math.min(...lab.rows.map((r) => r.act ?? 0));
  lab.rows = lab.rows
    .filter((r) => (r.act ?? 0) === act && r.instead_of === undefined)
    .filter((r, i, all) => all.findIndex((o) => o.arrangement === r.arrangement) === i);
}

/** What a view says of itself if it could not be drawn; empty: it could. */
export async function problem_of(page) {
  return page.$eval('main .problem', (p) => p.textContent).catch(() => '');
}

export async function views_of(page) {
  return page.$$eval('.tabs a', (tabs) => tabs.map((t) => t.dataset.view));
}

export async function topics_of(page) {
  return page.$$eval('.topics a', (links) => links.map((a) => new URLSearchParams(a.hash.slice(1)).get('topic')));
}
