// 1,000 runs: as many as a large grid has. Curves come decimated by the program; one lab has them as long as 10,000 points all the same.
import { basename } from 'node:path';
import { performance } from 'node:perf_hooks';
import { drawn, open, views_of, with_data } from './browser.mjs';
import { expect, Skip, test } from './harness.mjs';

function large(runs, points) {
  const names = ['pre-ln', 'post-ln', 'deepnorm', 'rezero', 'norm-skip', 'plain', 'admin', 'sandwich', 'peri-ln', 'keel'];
  const rows = [],
    all = [];
  for (let i = 0; i < runs; ++i) {
    const good = i % 3 > 0;
    all.push({
      seed: i,
      outcome: good ? 'trained' : 'stuck',
      loss: good ? 2 : 3.4,
      curve: {
        step: Array.from({ length: points }, (_, k) => k + 1),
        loss: Array.from({ length: points }, (_, k) =>
          Number(((good ? 2 : 3.3) + Math.exp(-k / 30) + 0.05 * Math.sin(k * i)).toFixed(3)),
        ),
      },
    });
    rows.push({
      label: `row ${i}`,
      arrangement: names[i % 10],
      formula: "x' = x + F(LN(x))",
      runs: [i],
      options: { layers: 4 + (i % 7) * 4, lr: 1e-4 * (1 + (i % 11)), warmup_steps: (i % 2) * 100 },
      baselines: { floor: 1.8, unigram: 3.4, bigram: 2.2, uniform: 3.7 },
      done: 1,
      trained: good ? 1 : 0,
      happened: good ? 'trains' : 'does not train',
      loss: { mean: good ? 2 : 3.4, deviation: null, least: 2, most: 2, count: 1 },
    });
  }
  return { format: 1, version: '0', labs: [{ name: 'large', rows, runs: all }] };
}

/** Opens the page, goes through its views and hovers over its curves, each within so many seconds. */
async function stays_usable(context, file, seconds) {
  let begun = performance.now();
  const { page, problems } = await open(context, '', { file });
  expect(performance.now() - begun < seconds * 1000, `it opens in ${Math.round(performance.now() - begun)} ms`);
  for (const view of await views_of(page)) {
    begun = performance.now();
    await page.click(`.tabs a[data-view="${view}"]`);
    await drawn(page);
    expect(performance.now() - begun < seconds * 1000, `${view} takes ${Math.round(performance.now() - begun)} ms`);
  }
  await page.click('.tabs a[data-view="overview"]');
  await drawn(page);
  begun = performance.now();
  for (let x = 100; x < 400; x += 30) await page.hover('.loss svg.chart', { position: { x, y: 100 } });
  const hover = (performance.now() - begun) / 10;
  expect(hover < 500, `a hover takes ${Math.round(hover)} ms`);
  expect(!problems.length, problems.join('\n'));
  await page.close();
}

for (const [runs, points, seconds] of [
  [1000, 120, 6],
  [100, 10000, 8],
])
  test(`${runs} runs of ${points} points stay usable`, async (context) => {
    if (!context.first) throw new Skip('done on the first page');
    await stays_usable(context, with_data(context.file, large(runs, points), 'large'), seconds);
  });

test('many.html, which the program made of 1000 runs of 10000 steps, stays usable', async (context) => {
  const file = context.files?.find((f) => basename(f) === 'many.html');
  if (!file) throw new Skip('no many.html is among the pages');
  await stays_usable(context, file, 8);
});
