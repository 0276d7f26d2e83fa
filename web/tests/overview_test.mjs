// The first screen: what is trained, where to begin, which losses are not decided, and lines that lie on each other.
import { changed, drawn, first_rows, open, read_data, views_of } from './browser.mjs';
import { expect, Skip, test } from './harness.mjs';

const trained = (page) => page.textContent('.setting .trained');

test('the first screen says what is trained, by the options of its rows', async (context) => {
  const { page } = await open(context, 'view=overview&act=-1');
  if (!(await views_of(page)).includes('overview')) throw new Skip('this page has no lab');
  const { options } = read_data(context.file).labs[0].rows[0];
  const said = await trained(page);
  for (const words of [`a made-up language of ${options.vocab} words`, `width ${options.d_model},`, `${options.steps} steps of Adam`])
    expect(said.includes(words), `"${words}" is not in "${said}"`);
  await page.close();
});

/** Rows with these options in place of their own; of several options, one row each. */
function set_options(lab, ...all) {
  const [row] = lab.rows;
  lab.rows = all.map((options) => ({ ...row, options: { ...row.options, ...options }, asked: {} }));
}

for (const [what, options, says] of [
  [
    'a file',
    [{ data: ['book.txt'], vocab: 96, d_model: 48, layers: 7, steps: 500, optimizer: 'sgd', lr: 0.03, warmup_steps: 20 }],
    /^What is trained: book\.txt \(96 different tokens\), width 48, 7 layers, 500 steps of SGD at 0\.03, 20 steps of warm-up, \d seeds?\. $/,
  ],
  [
    'pairs, at several depths and rates',
    [
      { task: 'reverse', model: 'seq2seq', layers: 2, lr: 0.001, warmup_steps: 0 },
      { task: 'reverse', model: 'seq2seq', layers: 4, lr: 0.002, warmup_steps: 9 },
    ],
    /a made-up task, reverse, encoder-decoder, .* 2 and 4 layers, .* at 0\.001 and 0\.002, with and without warm-up/,
  ],
  ['many depths', [1, 2, 3, 4, 5, 6].map((layers) => ({ layers })), /, 1 to 6 layers, /],
  ['a name that looks like HTML', [{ data: ['<b>x</b>'], vocab: 5 }], /<b>x<\/b> \(5 different tokens\)/],
])
  test(`what is trained is said of any data: ${what}`, async (context) => {
    const page = await changed(context, 'view=overview', (lab) => set_options(lab, ...options));
    const said = await trained(page);
    expect(says.test(said), said);
    await page.close();
  });

test('a lab without options does not say what it trained', async (context) => {
  const page = await changed(context, 'view=overview', (lab) => {
    for (const row of lab.rows) delete row.options, delete row.asked;
  });
  expect(!(await page.$('.setting .trained')) && (await page.isVisible('.start-here')), 'something is said');
  await page.close();
});

for (const width of [1280, 400])
  test(`"New here?" is in sight and leads to Learn, ${width} pixels wide`, async (context) => {
    const { page } = await open(context, 'view=overview', { width });
    if (!(await views_of(page)).includes('overview')) throw new Skip('this page has no lab');
    const box = await page.locator('.start-here').boundingBox();
    expect(box && box.y + box.height < 900, 'one has to scroll for it');
    await page.click('.start-here');
    await drawn(page);
    expect((await page.getAttribute('.tabs a[aria-current]', 'data-view')) === 'learn', page.url());
    expect((await page.textContent('main h1')) === 'Skip connections', await page.textContent('main h1'));
    await page.close();
  });

test('losses that so many seeds do not decide are shown in the words of the program', async (context) => {
  const line = 'deepnorm and rezero: not decided with 3 seeds (0.012, p 0.065)';
  const page = await changed(context, 'view=overview', (lab) => (lab.comparisons = [line]));
  expect((await page.textContent('main')).includes(line), 'the line is missing');
  await page.close();
});

/** Rows of post-ln as this says, the first of them failing; everything else as the page's own first row has it. */
function starts(...all) {
  return (lab) => {
    first_rows(lab);
    const [row] = lab.rows;
    lab.rows = all.map(({ options, ...fields }, i) => ({
      ...row,
      ...fields,
      arrangement: 'post-ln',
      options: { ...row.options, ...options },
      asked: { ...row.asked, ...options },
      happened: i ? 'trains' : 'does not train',
      trained: i ? 1 : 0,
      slow: false,
    }));
  };
}

const kStarts = [
  { weights: 'xavier', embeddings: '0.125', options: { init: 'xavier' } },
  { weights: 'gpt2', embeddings: '0.02', options: { init: 'gpt2' } },
];
const kLarge = { weights: 'gpt2', embeddings: '0.125', options: { init: 'gpt2', embedding_std: 0.125 } };
for (const [what, rows, names] of [
  ['of two starts', kStarts, ['xavier weights, embeddings 0.125', 'gpt2 weights, embeddings 0.02']],
  [
    'of weights, embeddings and warm-up',
    [...kStarts, kLarge, { ...kStarts[0], options: { init: 'xavier', warmup_steps: 200 } }],
    [
      'no warm-up, xavier weights, embeddings 0.125',
      'no warm-up, gpt2 weights, embeddings 0.02',
      'no warm-up, gpt2 weights, embeddings 0.125',
      'warm-up 200, xavier weights, embeddings 0.125',
    ],
  ],
  [
    'of branches made weaker',
    [
      { weights: 'gpt2, W_o and W_2 times 0.25', embeddings: '0.02' },
      { weights: 'gpt2', embeddings: '0.02' },
    ],
    ['gpt2 weights, W_o and W_2 times 0.25', 'gpt2 weights'],
  ],
  [
    'of options that ask for the same start',
    ['arrangement', 'xavier'].map((init, i) => ({ ...kStarts[0], options: { init, lr: i + 1 } })),
    ['lr 1', 'lr 2'],
  ],
  [
    'of norms at two rates',
    ['layernorm', 'rmsnorm'].flatMap((norm) => [1, 2].map((lr) => ({ options: { norm, lr } }))),
    ['lr 1, norm layernorm', 'lr 2, norm layernorm', 'lr 1, norm rmsnorm', 'lr 2, norm rmsnorm'],
  ],
])
  test(`rows of one arrangement are distinguished: ${what}`, async (context) => {
    const page = await changed(context, 'view=overview', starts(...rows));
    const found = await page.$$eval('.card h3', (all) => all.map((c) => c.textContent.trim()));
    expect(found.join('; ') === names.map((n) => `post-ln (${n})`).join('; '), found.join('; '));
    const lead = await page.textContent('.lead');
    expect(lead.includes(`post-ln (${names[0]}) does not`), lead);
    await page.close();
  });

test('those that fail are said not to train, also where those that train are too many to be named', async (context) => {
  const many = Array.from({ length: 12 }, (_, i) => ({ ...kStarts[1], options: { init: 'gpt2', d_model: 8 * i + 8 } }));
  const page = await changed(context, 'view=overview', starts(kStarts[0], ...many));
  const lead = await page.textContent('.lead');
  expect(/^post-ln \([^)]*\) does not train\. /.test(lead), lead);
  await page.close();
});

test('a copy of a row is said to try one change, and a start is said in words', async (context) => {
  const weaker = { weights: 'gpt2, W_o and W_2 times 0.25', embeddings: '0.02' };
  const page = await changed(context, 'view=overview', (lab) => {
    starts(kStarts[0], weaker)(lab);
    Object.assign(lab.rows[0], { label: 'the row' });
    Object.assign(lab.rows[1], { instead_of: 0, cause: null });
  });
  const card = await page.textContent('.card >> nth=1');
  expect(card.includes('Run to try one change of: the row.') && !/confirm/.test(card), card);
  expect(card.includes('starts from gpt2 weights, W_o and W_2 times 0.25, embeddings of 0.02'), card);
  await page.close();
});

test('rows of several parts have looks and legible names of their own in one figure', async (context) => {
  const page = await changed(context, 'view=overview&act=-1', (lab) => {
    starts(...kStarts, kLarge)(lab);
    lab.rows.forEach((row, act) => Object.assign(row, { act }));
    lab.acts = ['one', 'two', 'three'].map((name) => ({ name }));
  });
  const dashes = await page.$$eval('.loss .series .line', (all) => all.map((l) => l.getAttribute('stroke-dasharray')));
  expect(new Set(dashes).size === 3, dashes.join('; '));
  const labels = await page.$$eval('.loss .end-label', (all) => all.map((l) => l.textContent));
  expect(labels.length === 3 && new Set(labels).size === 3, labels.join('; '));
  const beyond = await page.$$eval('.loss .end-label', (all) =>
    all.filter((l) => l.getBoundingClientRect().right > l.closest('svg').getBoundingClientRect().right + 1),
  );
  expect(!beyond.length, 'a name is longer than the figure is wide');
  await page.close();
});

/** The colours that are on top along a line, from a third of its way on. */
async function colours_along(page, name) {
  return page.$eval(`.loss [data-series="${name}"] .line`, (line) => {
    const to_screen = line.getScreenCTM(),
      length = line.getTotalLength(),
      found = {};
    for (let k = 0; k < 300; ++k) {
      const point = line.getPointAtLength(length * (0.33 + (0.66 * k) / 300)).matrixTransform(to_screen);
      const on_top = document.elementFromPoint(point.x, point.y);
      if (on_top?.classList.contains('line')) found[on_top.style.stroke] = (found[on_top.style.stroke] ?? 0) + 1;
    }
    return { own: line.style.stroke, found };
  });
}

for (const dark of [false, true])
  test(`two lines that coincide are both seen, ${dark ? 'dark' : 'light'}`, async (context) => {
    const page = await changed(
      context,
      'view=overview',
      (lab) => {
        first_rows(lab);
        const one = lab.rows.find((r) => r.arrangement === 'post-ln');
        lab.rows = [one, { ...one, arrangement: 'norm-skip', label: 'norm-skip' }];
      },
      { dark },
    );
    await page.locator('.loss svg.chart').scrollIntoViewIfNeeded();
    const { own, found } = await colours_along(page, 'post-ln');
    const [other] = Object.keys(found).filter((colour) => colour !== own);
    expect(found[own] > 60 && found[other] > 60, JSON.stringify({ own, found }));
    const marks = await page.$$eval('.loss [data-turn]', (all) => all.map((p) => p.dataset.turn).sort().join());
    expect(marks === 'norm-skip,post-ln', marks);
    await page.close();
  });

test('a line that lies by itself takes no turns', async (context) => {
  const page = await changed(context, 'view=overview', (lab) => {
    first_rows(lab);
    lab.rows = lab.rows.slice(0, 2);
    lab.rows.forEach((row, i) => {
      const curve = { step: [1, 2, 3, 4], loss: [3, 2.8, 2.6, 2.4].map((v) => v + 0.3 * i) };
      lab.runs.push({ seed: 1, curve });
      row.runs = [lab.runs.length - 1];
    });
  });
  expect((await page.$$('.loss .line')).length === 2 && !(await page.$('.loss [data-turn]')), 'a line is drawn twice');
  await page.close();
});
