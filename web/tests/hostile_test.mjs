// Names are text, whatever they look like; and parts of the data may be missing.
import { drawn, open, problem_of, read_data, topics_of, views_of, with_data } from './browser.mjs';
import { expect, Skip, test } from './harness.mjs';

const kEvil = '<img src=x onerror=alert(1)></script><script>alert(2)</script>[[evil]]';

/** Every text of the data, but for words that the page looks at, becomes hostile. */
function poisoned(value, key = '') {
  if (Array.isArray(value)) return value.map((v) => poisoned(v, key));
  if (value && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, poisoned(v, k)]));
  const plain = [
    'units',
    'stream_rms',
    'spread',
    'gradient_norm',
    'update_ratio',
    'gradient_skip',
    'gradient_branch',
    'attention_entropy',
    'max_logit',
    'cosine',
    'skip_share',
    'id',
    'from',
    'to',
    'made',
  ];
  return typeof value === 'string' && !plain.includes(key) ? `${value}${kEvil}` : value;
}

test('names that look like HTML stay text, everywhere', async (context) => {
  const data = read_data(context.file);
  const { page, problems } = await open(context, '', { file: with_data(context.file, poisoned(data), 'hostile') });
  for (const view of await views_of(page)) {
    await page.click(`.tabs a[data-view="${view}"]`);
    await drawn(page);
    expect((await page.$$('img')).length === 0, `${view}: an <img> was made`);
    expect((await page.$$('script')).length === 2, `${view}: a <script> was made`);
    const chart = await page.$('svg.chart');
    if (chart) await chart.hover({ position: { x: 90, y: 60 }, timeout: 1500 }).catch(() => undefined);
  }
  for (const topic of await topics_of(page)) {
    await page.evaluate((t) => (location.hash = `view=learn&topic=${t}`), topic);
    await drawn(page);
  }
  expect((await page.$$('img')).length === 0, 'an <img> was made');
  if (data.labs?.length) {
    await page.evaluate(() => (location.hash = 'view=overview'));
    await drawn(page);
    expect((await page.textContent('main')).includes('<img src=x'), 'the name is not shown as it is');
  }
  expect(!problems.length, problems.join('\n'));
  await page.close();
});

test('whatever is missing is missed quietly', async (context) => {
  if (!context.first) throw new Skip('done on the first page');
  const data = read_data(context.file);
  const bare = (lab) => ({
    name: 'bare',
    rows: lab.rows.map((r) => ({ label: r.label, arrangement: r.arrangement, runs: r.runs })),
    runs: lab.runs.map((r) => ({ seed: r.seed })),
  });
  const nulls = (v) =>
    Array.isArray(v)
      ? v.map(nulls)
      : v && typeof v === 'object'
        ? Object.fromEntries(Object.entries(v).map(([k, x]) => [k, ['runs', 'act', 'step', 'format'].includes(k) ? x : nulls(x)]))
        : typeof v === 'number'
          ? null
          : v;
  const cases = {
    nothing: { format: 1, version: '0' },
    claims: { format: 1, version: '0', claims: data.claims },
    'labs without anything': { format: 1, version: '0', labs: (data.labs ?? []).map(bare) },
    'a catalogue only': { format: 1, version: '0', arrangements: data.arrangements },
    preflight: { format: 1, version: '0', preflights: [{ name: 'p', verdict: 'trains' }] },
    'a train run': {
      format: 1,
      version: '0',
      trains: [{ name: 't', options: { arrangement: 'pre-ln' }, curve: { step: [1, 2], loss: [3, null] } }],
    },
    'numbers that are all null': { ...data, labs: nulls(data.labs ?? []), preflights: nulls(data.preflights ?? []) },
  };
  for (const [name, part] of Object.entries(cases)) {
    const { page, problems } = await open(context, '', { file: with_data(context.file, part, 'part') });
    for (const view of await views_of(page)) {
      await page.click(`.tabs a[data-view="${view}"]`);
      await drawn(page);
      const problem = await problem_of(page);
      expect(!problem, `${name}, ${view}: ${problem}`);
      const text = await page.textContent('main');
      expect(
        !/undefined|NaN|\[object/.test(text),
        `${name}, ${view} says undefined or NaN: ${/.{30}(undefined|NaN|\[object).{30}/.exec(text)?.[0]}`,
      );
    }
    expect(!problems.length, `${name}: ${problems.join('\n')}`);
    await page.close();
  }
});
