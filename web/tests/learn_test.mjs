// Topics of Learn whose figures have to show what their words say, and compare what is alike; what is said of skip gain.
import { changed, drawn, open, read_data, views_of } from './browser.mjs';
import { expect, Skip, test } from './harness.mjs';

const bars = (page, name) =>
  page.$$eval(`[data-vector="${name}"] rect`, (all) => all.map((r) => [Number(r.getAttribute('y')), Number(r.getAttribute('height'))]));
const far = (a, b) => Math.max(...a.flatMap(([y, h], i) => [Math.abs(y - b[i][0]), Math.abs(h - b[i][1])]));

test('the bars of LN(x) stay as they are when x grows or moves', async (context) => {
  const { page } = await open(context, 'view=learn&topic=layer-norm');
  const before = await bars(page, 'LN(x)'),
    scale = () => page.textContent('[data-vector="x"] .tick-text >> nth=0');
  expect(before.length === 6 && before.some(([, h]) => h > 15), JSON.stringify(before));
  const first = await scale();
  for (const button of ['× 3', '+ 2', '× 3']) {
    await page.click(`button:text-is("${button}")`);
    await drawn(page);
    expect(far(before, await bars(page, 'LN(x)')) < 0.2, `${button}: ${JSON.stringify(await bars(page, 'LN(x)'))}`);
  }
  expect((await scale()) !== first, `the scale of x is still ${first}`);
  await page.fill('.bench input >> nth=2', '2'); // the gain does change it
  await drawn(page);
  const doubled = await bars(page, 'LN(x)');
  expect(doubled[3][1] > 1.2 * before[3][1], `${before[3]}, then ${doubled[3]}`);
  await page.close();
});

test('the size of the stream at the top is drawn without plain, on a linear axis from 0', async (context) => {
  const page = await changed(context, 'view=learn&topic=final-norm', (lab) => {
    for (const row of lab.rows) if (row.arrangement === 'norm-skip') row.arrangement = 'plain';
  });
  const figure = '.figure:has(h3:text("Size of the stream at the top"))';
  if (!(await page.$(figure))) throw new Skip('the page has no probes');
  const names = await page.$$eval(`${figure} [data-series]`, (all) => all.map((s) => s.dataset.series));
  expect(names.length >= 2 && !names.some((n) => n.includes('plain')), names.join());
  const ticks = await page.$$eval(`${figure} .axis >> nth=0 >> g`, (all) =>
    all.map((g) => ({ value: Number(g.textContent), y: Number(/,(.*)\)/.exec(g.getAttribute('transform'))[1]) })),
  );
  expect(ticks.length >= 3 && ticks[0].value === 0, JSON.stringify(ticks));
  const pixels = (ticks[1].y - ticks[0].y) / (ticks[1].value - ticks[0].value);
  for (const { value, y } of ticks) expect(Math.abs(y - ticks[0].y - pixels * value) < 1, `${value} stands at ${y}`);
  await page.close();
});

/** Numbers as the program packs them: data.ts. */
function unpacked(text) {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
    view = new DataView(new ArrayBuffer(4));
  return Array.from({ length: text.length / 3 }, (_, i) => {
    const code = [...text.slice(3 * i, 3 * i + 3)].reduce((sum, c) => sum * 64 + digits.indexOf(c), 0);
    view.setUint32(0, code * 2 ** 14);
    return view.getFloat32(0);
  });
}

test('a small skip gain is not said to be a small gradient', async (context) => {
  const { page } = await open(context, 'view=layers&a=post-ln&b=pre-ln');
  if (!(await views_of(page)).includes('layers')) throw new Skip('this page has no arrangements');
  const note = await page.textContent('.figure:has(.summary) figcaption');
  expect(note.includes('does not mean that no gradient arrives: at the first step the branches carry it'), note);
  const lab = read_data(context.file).labs?.[0];
  const row = lab?.rows.find((r) => r.arrangement === 'post-ln' && lab.runs[r.runs[0]].probes?.length);
  if (row) {
    const [{ units, gradient_norm, step }] = lab.runs[row.runs[0]].probes;
    const gradient = unpacked(gradient_norm);
    const ratio = gradient[0] / gradient[units.length];
    const said = /In post-ln.*? is ([\d.]+) times that at the top at step (\d+)/.exec(note);
    expect(said && Math.abs(said[1] - ratio) <= 0.06 * ratio && Number(said[2]) === step[0], `${ratio}: ${note}`);
  }
  for (const topic of ['add-norm', 'glossary']) {
    await page.evaluate((t) => (location.hash = `view=learn&topic=${t}`), topic);
    await drawn(page);
    const text = await page.textContent('.topic');
    expect(/not (to )?say that no gradient arrives/.test(text), `${topic} does not say so`);
  }
  await page.close();
});

/** Rows of these arrangements, each trained or not as it says, and the same as the page's first row in all else. */
function made(...rows) {
  return (lab) => {
    const [row] = lab.rows;
    lab.rows = rows.map(({ arrangement, happened, options, ...fields }) => ({
      ...row,
      weights: 'xavier',
      embeddings: '0.125',
      ...fields,
      arrangement,
      options: { ...row.options, arrangement, warmup_steps: 0, layers: 12, lr: 0.001, ...options },
      asked: { ...row.asked, arrangement, warmup_steps: 0, layers: 12, lr: 0.001, ...options },
      happened,
      trained: happened === 'trains' ? 1 : 0,
      slow: false,
      instead_of: undefined,
    }));
  };
}

const kCold = { arrangement: 'post-ln', happened: 'does not train' };
const kWarm = { arrangement: 'post-ln', happened: 'trains', options: { warmup_steps: 200 } };

test('with and without warm-up: nothing else differs between the two', async (context) => {
  const page = await changed(
    context,
    'view=learn&topic=warm-up',
    made(
      kCold,
      { ...kWarm, weights: 'gpt2', options: { warmup_steps: 150 } },
      { ...kWarm, options: { warmup_steps: 90, dropout: 0.5 } },
      kWarm,
    ),
  );
  const asked = await page.textContent('.predict');
  expect(asked.includes('everything the same but for the first 200 steps'), asked);
  await page.close();
});

for (const [what, change] of Object.entries({
  weights: { weights: 'gpt2' },
  embeddings: { embeddings: '0.02' },
  layers: { options: { warmup_steps: 200, layers: 24 } },
  'an option': { options: { warmup_steps: 200, batch_size: 77 } },
}))
  test(`rows that differ in warm-up and ${what} are not shown as the same but for warm-up`, async (context) => {
    const page = await changed(context, 'view=learn&topic=warm-up', made(kCold, { ...kWarm, ...change }));
    expect(!(await page.$('.predict')), await page.textContent('.topic'));
    await page.close();
  });

test('three formulas are compared at equal weights, and what else differs is said', async (context) => {
  const mixed = Object.entries({ 'post-ln': 'xavier', 'pre-ln': 'gpt2', 'norm-skip': 'xavier' }).map(([arrangement, weights]) => ({
    arrangement,
    weights,
    happened: 'trains',
  }));
  const question = async (rows) => {
    const page = await changed(context, 'view=learn&topic=pre-post', made(...rows));
    const asked = await page.textContent('.predict');
    await page.close();
    return asked;
  };
  const unequal = await question(mixed);
  const says = /12 layers, full learning rate from the first step\. .* They differ in more than the formula: in weights\./;
  expect(says.test(unequal), unequal);
  const equal = await question([...mixed, { arrangement: 'pre-ln', happened: 'does not train', weights: 'xavier' }]);
  expect(!/more than the formula/.test(equal), equal);
});

test('the note under skip gain does not say how rows start', async (context) => {
  const page = await changed(context, 'view=layers&a=post-ln&b=pre-ln', made(kCold, { arrangement: 'pre-ln', happened: 'trains' }));
  const note = await page.textContent('.figure:has(h2:text("Skip gain"))');
  expect(/like GPT-2's, make them weaker/.test(note) && !/has here/.test(note), note);
  await page.close();
});
