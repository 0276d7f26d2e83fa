// Hover, click, sliders, files.
import { readFileSync } from 'node:fs';
import { drawn, open, read_data, views_of } from './browser.mjs';
import { expect, Skip, test } from './harness.mjs';

async function at_view(context, view, more = '') {
  const opened = await open(context, `view=${view}${more}`);
  if (!(await views_of(opened.page)).includes(view)) {
    await opened.page.close();
    throw new Skip(`this page has no ${view}`);
  }
  return opened;
}

test('hovering over curves shows numbers', async (context) => {
  const { page, problems } = await at_view(context, 'overview');
  await page.hover('.loss svg.chart', { position: { x: 200, y: 150 } });
  const text = await page.textContent('.tooltip');
  expect(/step \d+/.test(text) && /\d\.\d/.test(text), text);
  expect(!problems.length, problems.join('\n'));
  await page.close();
});

test('a heat map describes its cell on hover, and a click opens the history of that unit', async (context) => {
  const { page, problems } = await at_view(context, 'maps');
  await page.hover('.heat >> nth=0', { position: { x: 150, y: 60 } });
  expect(/step \d+/.test(await page.textContent('.tooltip')), 'no reading');
  await page.click('.heat >> nth=0', { position: { x: 150, y: 60 } });
  await drawn(page);
  expect(await page.isVisible('.history svg.chart'), 'no history');
  expect(/cell=\d+\.\d+\.\d+/.test(page.url()), page.url());
  await page.click('.history button:has-text("Close")');
  await drawn(page);
  expect(!(await page.$('.history')), 'it does not close');
  expect(!problems.length, problems.join('\n'));
  await page.close();
});

/** Of the first map: what stands along its steps, and where. */
async function step_axis(page) {
  return page.$eval('.heat', (map) => ({
    label: map.querySelector('.axis-label').textContent,
    cells: map.querySelector('image').getBoundingClientRect().toJSON(),
    ticks: Array.from(map.querySelectorAll('.tick-text'), (t) => ({ text: t.textContent, box: t.getBoundingClientRect().toJSON() }))
      .filter(({ text }) => /^\d/.test(text))
      .map(({ text, box }) => ({ step: Number(text.replace(/,/g, '')), x: box.left + box.width / 2 })),
  }));
}

for (const [choice, place] of [
  ['log', Math.log],
  ['linear', (step) => step],
])
  test(`the steps of a heat map lie where a ${choice} scale has them`, async (context) => {
    const { page } = await at_view(context, 'maps', `&steps=${choice}`);
    await page.locator('.heat').first().scrollIntoViewIfNeeded();
    const { label, cells, ticks } = await step_axis(page);
    expect(/log/.test(label) === (choice === 'log'), `the axis is called "${label}"`);
    expect(ticks.length >= 3, `${ticks.length} ticks`);
    const [first, last] = [ticks[0], ticks[ticks.length - 1]];
    const pixels = (last.x - first.x) / (place(last.step) - place(first.step));
    for (const { step, x } of ticks) {
      const expected = first.x + pixels * (place(step) - place(first.step));
      expect(Math.abs(x - expected) < 1.5, `step ${step} stands at ${x}, not at ${expected}`);
    }
    // Under the pointer is the record nearest to the step that the axis says.
    const rows = read_data(context.file).labs[0];
    const steps = rows.runs[rows.rows[0].runs[0]].probes[0].step;
    for (const { step, x } of ticks) {
      await page.mouse.move(Math.min(Math.max(x, cells.left + 1), cells.right - 1), cells.top + 20);
      const shown = Number(/step (\d+)/.exec(await page.textContent('.tooltip'))?.[1]);
      const distance = (s) => Math.abs(place(s) - place(step));
      expect(distance(shown) <= Math.min(...steps.map(distance)) + 1.5 / pixels, `above step ${step} stands the record of ${shown}`);
    }
    await page.close();
  });

test('all maps of a view share one colour scale', async (context) => {
  const { page } = await at_view(context, 'maps', '&metric=stream_rms');
  expect((await page.$$('.bar svg')).length === 1, 'there is not one scale');
  const ranges = await page.$$eval('.bar svg, .maps .heat', (all) => all.map((m) => m.dataset.range));
  expect(ranges.length > 2 && ranges.every((r) => r && r === ranges[0]), ranges.join('; '));
  await page.close();
});

test('the depth slider shows the skip gain at that depth', async (context) => {
  const { page } = await at_view(context, 'layers');
  const slider = page.locator('input[type=range]').first();
  await slider.focus();
  const before = await page.textContent('.summary');
  await page.keyboard.press('ArrowRight');
  expect((await page.textContent('.summary')) !== before && /depth=\d+/.test(page.url()), 'nothing changed');
  await page.close();
});

test('any two arrangements stand side by side', async (context) => {
  const { page } = await at_view(context, 'layers');
  const names = await page.$$eval('.choose select >> nth=0', (s) => Array.from(s[0].options, (o) => o.value));
  for (const name of names) {
    await page.selectOption('.choose select >> nth=1', name);
    await drawn(page);
    expect((await page.$$('section.side')).length === 2 && !(await page.$('main .problem')), name);
  }
  await page.close();
});

test('beside a chosen row stands the one that differs from it in the placement alone', async (context) => {
  const { labs } = read_data(context.file);
  const rows = labs?.[0]?.rows ?? [];
  const layers_of = (label) => /(\d+) layers/.exec(label)?.[1];
  const first = rows.find((r) => r.arrangement === 'pre-ln'); // what would stand there if nobody looked
  const chosen = rows.findIndex((r) => r.arrangement === 'post-ln' && layers_of(r.label) !== layers_of(first?.label));
  if (!first || chosen < 0) throw new Skip('the page has no two depths of both');
  const { page } = await at_view(context, 'layers', `&a=post-ln&b=pre-ln&row=${chosen}`);
  await drawn(page);
  const [said, left, right] = /Measured in: ([^;]*); ([^.]*)\./.exec(await page.textContent('main')) ?? [];
  expect(left === rows[chosen].label && layers_of(right) === layers_of(left), said);
  await page.close();
});

test('predict, then reveal: no curve before the guess', async (context) => {
  const { page } = await at_view(context, 'learn', '&topic=pre-post');
  if (!(await page.$('.predict'))) throw new Skip('the page has not all three arrangements');
  expect(!(await page.$('.predict svg.chart')), 'the answer is there already');
  await page.check('.guess input >> nth=1');
  await page.click('.reveal');
  await drawn(page);
  expect((await page.$('.predict svg.chart')) && /right/.test(await page.textContent('.answer')), 'no answer');
  await page.close();
});

test('layer norm follows the vector that is typed', async (context) => {
  const { page } = await at_view(context, 'learn', '&topic=layer-norm');
  await page.fill('.bench input >> nth=0', '1, 3');
  expect((await page.textContent('.steps')).includes('−1, 1'), await page.textContent('.steps'));
  await page.fill('.bench input >> nth=0', '<b>, x, ');
  await page.fill('.bench input >> nth=1', '0');
  expect(!(await page.$('main .problem')), 'odd input breaks it');
  await page.fill('.bench input >> nth=0', '2 2 2');
  expect((await page.textContent('.steps')).includes('0 / 0'), 'a constant vector without epsilon');
  await page.close();
});

test('the batch size changes batch norm and not layer norm', async (context) => {
  const { page } = await at_view(context, 'learn', '&topic=batch-norm');
  const summary = () => page.textContent('.summary');
  const before = await summary();
  await page.locator('input[type=range]').first().fill('64');
  expect((await summary()) !== before && (await summary()).includes('Layer norm: 0'), await summary());
  await page.locator('input[type=range]').first().fill('1');
  expect((await summary()).includes('zeros'), await summary());
  await page.close();
});

test('a figure is saved as SVG and its data as CSV', async (context) => {
  const { page, problems } = await at_view(context, 'overview');
  for (const [kind, looks] of [
    ['svg', /^<svg[\s\S]*<path[\s\S]*<\/svg>$/],
    ['csv', /^configuration,seed,step,loss\r\n/],
  ]) {
    const [download] = await Promise.all([page.waitForEvent('download'), page.click(`.loss [data-file=${kind}]`)]);
    const text = readFileSync(await download.path(), 'utf8');
    expect(
      download.suggestedFilename().endsWith(kind) && looks.test(text),
      `${download.suggestedFilename()}: ${text.slice(0, 200)}`,
    );
    expect(!text.includes('var(--'), 'colours are not written out');
  }
  expect(!problems.length, problems.join('\n'));
  await page.close();
});

test('claims are found by words', async (context) => {
  const { page } = await at_view(context, 'claims');
  const all = (await page.$$('.claim')).length;
  const ids = await page.$$eval('.claim', (claims) => claims.map((c) => /[A-Z]\d+/.exec(c.textContent)[0]));
  const numbers = ids.filter((id) => id[0] === ids[0][0]).map((id) => Number(id.slice(1)));
  expect(
    numbers.every((n, i) => i === 0 || n > numbers[i - 1]),
    `not by number: ${ids.slice(0, 12).join(', ')}`,
  );
  await page.fill('input[type=search]', 'warm-up');
  await page.waitForFunction((n) => document.querySelectorAll('.claim').length < n, all);
  expect((await page.$$('.claim')).length > 0, 'none is found');
  await page.click('.claim summary >> nth=0');
  await page.locator('.claim[open]', { hasText: 'Measured' }).waitFor(); // drawn when the browser says that it is open
  await page.close();
});
