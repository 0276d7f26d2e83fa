// The x-ray: figures, readings, files, and records with parts missing.
import { readFileSync } from 'node:fs';
import { drawn, open, problem_of, read_data, with_data } from './browser.mjs';
import { expect, Skip, test } from './harness.mjs';

const kUnits = ['layers.0.self', 'layers.0.ffn', 'layers.1.self', 'layers.1.ffn'];

/** A record as the program writes it, small enough to know every number. */
function record(changes = {}, stack = {}) {
  return {
    name: 'x',
    model: { name: 'tiny', kind: 'lm', arrangement: 'pre-ln', formula: "x' = x + F(LN(x))", layers: 2, d_model: 8, parameters: 1234 },
    text: { source: '40 built-in sentences', sequences: 4, tokens: 100, labels: 96 },
    measure: 'loss',
    loss: 2,
    findings: ['the stream grows 40x <b>', 'units could go'],
    stacks: [
      {
        name: 'stack',
        layers: 2,
        units: kUnits,
        stream_rms: [0.1, 0.2, 1, 2, 4],
        peaks: kUnits.concat('').map((_, i) => ({ value: 3, over_median: 10 + i, feature: 7, position: 0, text: '"The"' })),
        lens_loss: [5, 4, 3, 2.5, 2],
        bypass_change: [0.5, 1.25, 0.001, null],
        branch_rms: [0.1, 0.9, 1, 2],
        update_ratio: [1, 4.5, 1, 1],
        branch_share: [0.5, 0.9, 0.5, 0.5],
        cosine: [0.9, 0.5, 0.8, 0.9],
        block_influence: [0.5, 0.1],
        attention_entropy: [0.5, null, 0.25, null],
        attribution: [0.5, 1, -0.25, 2, 0.5, 0.25],
        expendable: { units: [2], together: 0.001 },
        ...stack,
      },
    ],
    norms: [
      { stack: 'stack', name: 'layers.0.self.in', slot: 'in', unit: 0, rms: 1, min: 0.5, max: 2, bias_rms: 0 },
      { stack: 'stack', name: 'exit', slot: 'exit', rms: 3, min: 1, max: 9, bias_rms: null },
    ],
    attribution: { ln: 'frozen', whole: 4 },
    missing: [],
    ...changes,
  };
}

async function at_xray(context, xrays, fragment = '', options = {}) {
  if (!context.first) throw new Skip('done on the first page');
  const file = with_data(context.file, { format: 1, version: '0', xrays }, 'xray');
  const opened = await open(context, `view=xray${fragment}`, { file, ...options });
  const problem = await problem_of(opened.page);
  expect(!problem && !opened.problems.length, problem, opened.problems.join('\n'));
  return opened;
}

const figure_of = (page, title) => page.locator('.figure', { has: page.locator(`h3:text-is("${title}")`) });

test('the x-ray of a run on the page has all of its figures', async (context) => {
  const xrays = read_data(context.file).xrays ?? [];
  if (!xrays.length) throw new Skip('this page has no x-ray');
  const { page, problems } = await open(context, 'view=xray');
  const titles = await page.$$eval('.figure h3', (all) => all.map((h) => h.textContent));
  for (const title of [
    'What each unit is worth',
    'If the stack ended here',
    'Size of the stream',
    'Share of the branch',
    'Who makes the output',
    'Block influence',
    'Attention entropy',
    'Gains of the norms',
  ])
    expect(titles.includes(title), `${title} is missing: ${titles.join()}`);
  expect((await page.$$('.drawing svg')).length === titles.length, 'a figure is not drawn');
  expect(!problems.length, problems.join('\n'));
  await page.close();
});

test('the x-ray says which units could go, and its texts are no HTML', async (context) => {
  const { page } = await at_xray(context, [record()]);
  expect((await page.textContent('main h1')) === 'tiny: 1 of 4 units could go', await page.textContent('main h1'));
  expect((await page.textContent('.lead')) === 'The stream grows 40x <b>. Units could go.', await page.textContent('.lead'));
  expect(/layer 2, attention costs at most 1 % of the loss; it costs 0.001 nats/.test(await page.textContent('.finding')), 'no verdict');
  expect((await page.$$('.big-formula math')).length > 0, 'no formula');
  await page.close();
});

test('a bar of the x-ray describes its unit by pointer and by arrow keys', async (context) => {
  const { page } = await at_xray(context, [record()]);
  const chart = figure_of(page, 'What each unit is worth').locator('svg');
  await chart.scrollIntoViewIfNeeded();
  const bar = await chart.locator('.unit-bar').nth(1).boundingBox();
  await page.mouse.move(bar.x + bar.width / 2, bar.y + bar.height / 2);
  const tooltip = () => page.textContent('.tooltip');
  expect(/layer 1, feed-forward \(layers\.0\.ffn\).*1\.25/.test(await tooltip()), await tooltip());
  await page.mouse.move(0, 0);  // a pointer that rests on the chart is described again when the page moves under it
  await chart.focus();
  for (let i = 0; i < 2; ++i) await page.keyboard.press('ArrowRight');
  expect(/layers\.\d\.\w+/.test(await tooltip()), await tooltip());
  await page.keyboard.press('End');
  for (let i = 0; i < 6; ++i) await page.keyboard.press('ArrowRight');
  expect(/layers\.1\.ffn.*not measured/.test(await tooltip()), await tooltip());
  await page.keyboard.press('Escape');
  expect(!(await page.isVisible('.tooltip')), 'it stays');
  await page.close();
});

test('a line of the x-ray names the place under the pointer', async (context) => {
  const { page } = await at_xray(context, [record()]);
  const chart = figure_of(page, 'If the stack ended here').locator('svg');
  await chart.focus();
  await page.keyboard.press('ArrowLeft');
  const tooltip = await page.textContent('.tooltip');
  expect(/after layer 2, attention \(layers\.1\.self\).*2\.5/.test(tooltip), tooltip);
  await page.close();
});

test('figures of the x-ray are saved as CSV and SVG', async (context) => {
  const { page } = await at_xray(context, [record()]);
  for (const [title, kind, looks] of [
    ['What each unit is worth', 'csv', /^"?unit, from the bottom"?,name,[\s\S]*"?layer 1, feed-forward \(layers\.0\.ffn\)"?,1\.25/],
    ['Gains of the norms', 'csv', /^norm,slot,rms,min,max,bias rms\r\nlayers\.0\.self\.in,in,1,0\.5,2,0\r\nexit,exit,3,1,9/],
    ['Who makes the output', 'svg', /^<svg[\s\S]*<rect[\s\S]*<\/svg>$/],
  ]) {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      figure_of(page, title).locator(`[data-file=${kind}]`).click(),
    ]);
    const text = readFileSync(await download.path(), 'utf8');
    expect(looks.test(text), `${title}: ${text.slice(0, 300)}`);
    expect(!text.includes('var(--'), 'colours are not written out');
  }
  await page.close();
});

test('models and stacks of x-rays are chosen, and the address keeps it', async (context) => {
  const two = record({ name: 'pairs', model: { name: 'pairs', arrangement: 'post-ln' } });
  two.stacks = [{ ...two.stacks[0], name: 'encoder', expendable: { units: [], together: null } }, { ...two.stacks[0], name: 'decoder' }];
  const { page } = await at_xray(context, [record(), two]);
  await page.selectOption('.choose select >> nth=0', '1');
  await drawn(page);
  expect(/pairs: 1 of 4/.test(await page.textContent('main h1')), await page.textContent('main h1'));
  await page.selectOption('.choose select >> nth=1', 'encoder');
  await drawn(page);
  expect(/pairs: every unit counts/.test(await page.textContent('main h1')), await page.textContent('main h1'));
  expect(/x=1/.test(page.url()) && /stack=encoder/.test(page.url()), page.url());
  await page.close();
});

test('an x-ray with parts missing shows the others, wide and narrow', async (context) => {
  const bare = { name: 'bare', model: { arrangement: 'resi-dual' }, measure: 'embedding', loss: null, stacks: [{ name: 'stack', units: kUnits }] };
  const embedding = record(
    { measure: 'embedding', loss: null, missing: [{ what: 'loss', why: 'an encoder without a head predicts nothing' }] },
    { lens_loss: undefined, lens_change: [0.5, 0.4, 0.3, 0.1, 0], branch_share: undefined, attribution: undefined },
  );
  for (const width of [1280, 400])
    for (const [i, words] of [
      [0, 'bare'],
      [1, 'cosine distances of the embedding'],
    ]) {
      const { page } = await at_xray(context, [bare, embedding], `&x=${i}`, { width });
      expect((await page.textContent('main')).includes(words), words);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(over <= 0, `${over} pixels too wide at ${width}`);
      if (i === 1) expect(/loss: An encoder without a head/.test(await page.textContent('.notes')), 'it does not say what is missing');
      await page.close();
    }
});

test('an x-ray of 96 layers is drawn', async (context) => {
  const units = Array.from({ length: 192 }, (_, i) => `layers.${i >> 1}.${i % 2 ? 'ffn' : 'self'}`);
  const by_unit = units.map((_, i) => 0.01 * (i % 7)),
    by_place = [1, ...units.map((_, i) => 1 + i)];
  const { page } = await at_xray(context, [
    record({}, { units, layers: 96, stream_rms: by_place, lens_loss: by_place, bypass_change: by_unit, attribution: [0, ...by_unit, 0] }),
  ]);
  expect((await figure_of(page, 'What each unit is worth').locator('.unit-bar').count()) === 192, 'bars are missing');
  await page.close();
});
