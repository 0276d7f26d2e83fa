// What a page says of cases that few labs have: made of the page's own records, with some fields replaced.
import { readFileSync } from 'node:fs';
import { changed, drawn, first_rows, open, with_data } from './browser.mjs';
import { expect, Skip, test } from './harness.mjs';

for (const [happened, says] of [
  ['too short to tell', /^\d+ configurations: too short to tell$/],
  ['unknown', /^\d+ configurations: not decided yet$/],
])
  test(`a lab of which all is "${happened}" is not said to fail`, async (context) => {
    const page = await changed(context, 'view=overview', (lab) => {
      first_rows(lab);
      for (const row of lab.rows) Object.assign(row, { happened, trained: 0, slow: false, cause: null, agreed: null });
    });
    const title = await page.textContent('main h1');
    expect(says.test(title), title);
    expect(!(await page.$('.card.bad')) && !/do(es)? not/.test(await page.textContent('.lead')), 'something is said to fail');
    await page.evaluate(() => (location.hash = 'view=learn&topic=pre-post'));
    await drawn(page);
    expect(!(await page.$('.predict')), 'the reader is asked for what nobody knows');
    await page.close();
  });

test('rows that are not decided are counted apart', async (context) => {
  const page = await changed(context, 'view=overview', (lab) => {
    first_rows(lab);
    lab.rows.forEach((row, i) => Object.assign(row, { happened: i ? 'unknown' : 'trains', trained: i ? 0 : 1, slow: false }));
  });
  expect(/ trains (here|from \S+ weights)\.$/.test(await page.textContent('main h1')), await page.textContent('main h1'));
  expect(/ not decided yet/.test(await page.textContent('.lead')), await page.textContent('.lead'));
  await page.close();
});

test('what the lab shows, what cures a row and how it starts are said', async (context) => {
  const page = await changed(context, 'view=overview', (lab) => {
    first_rows(lab);
    lab.findings = ['xavier weights: pre-ln trains; post-ln does not.'];
    lab.rows.forEach((row) => Object.assign(row, { weights: 'xavier', embeddings: '0.125', tried: [] }));
    lab.rows[0].tried = [
      { factor: 'weights', change: 'gpt2 weights', cures: true, trained: 3, done: 3 },
      { factor: 'warm-up', change: '200 warm-up steps', cures: false, trained: 0, done: 1 },
    ];
  });
  expect((await page.textContent('.finding li')) === 'xavier weights: pre-ln trains; post-ln does not.', 'no finding');
  const tried = await page.textContent('.card .tried');
  expect(tried === 'Cured by gpt2 weights (3 of 3); not by 200 warm-up steps (0 of 1).', tried);
  expect(/starts from xavier weights, embeddings of 0.125/.test(await page.textContent('.card .start')), 'no start');
  expect(/ from xavier weights\.$/.test(await page.textContent('main h1')), await page.textContent('main h1'));
  await page.close();
});

test('a formula with gains of its own is said beside the rule', async (context) => {
  const page = await changed(context, 'view=overview', (lab) => {
    first_rows(lab);
    lab.rows.forEach((row) => Object.assign(row, { weights: 'gpt2', weights_in_words: 'gpt2 weights with its own gains', embeddings: '0.02' }));
  });
  const start = await page.textContent('.card .start');
  expect(/starts from gpt2 weights with its own gains/.test(start), start);
  await page.close();
});

test('what the lab decides is the heading, and is not said twice', async (context) => {
  const headline = 'Whether post-ln trains is decided by placement: it does not where pre-ln does.';
  const page = await changed(context, 'view=overview', (lab) => {
    first_rows(lab);
    Object.assign(lab, { headline, findings: [headline, 'pre-ln trains; post-ln does not.'] });
  });
  expect((await page.textContent('main h1')) === headline, await page.textContent('main h1'));
  const box = await page.locator('main h1').boundingBox();
  expect(box && box.y + box.height < 500, 'it is not on the first screen');
  const found = await page.$$eval('.finding li', (all) => all.map((li) => li.textContent));
  expect(found.join() === 'pre-ln trains; post-ln does not.', found.join());
  expect(/^(\d+ of \d+|All \d+|None of) .* trains? (here|from \S+ weights)\. /.test(await page.textContent('.lead')), 'no count');
  await page.close();
});

test('a configuration that is there under two names is counted once', async (context) => {
  const page = await changed(context, 'view=overview', (lab) => {
    first_rows(lab);
    const row = { ...lab.rows[0], happened: 'trains', trained: 1, slow: false };
    lab.rows = [row, { ...row, same_as: 0 }];
  });
  expect(/^\S+ trains /.test(await page.textContent('main h1')), await page.textContent('main h1'));
  await page.close();
});

test('what confirms a cause is shown unless it is among what was tried', async (context) => {
  const page = await changed(context, 'view=overview', (lab) => {
    first_rows(lab);
    const cause = { kind: 'attention collapse', text: 'so', confirmed: true, by: 'with --qk-norm rmsnorm: trains, 1 of 1' };
    const tried = [{ factor: 'weights', change: 'gpt2 weights', cures: false, trained: 0, done: 1, row: 1 }];
    const row = { ...lab.rows[0], happened: 'does not train', trained: 0, slow: false, tried };
    lab.rows = [
      { ...row, cause: { ...cause, by_rows: [2] } },
      { ...row, cause: { ...cause, by_rows: [1] } },
    ];
  });
  const [shown, hidden] = await page.$$eval('.card', (all) => all.map((card) => card.textContent.includes('--qk-norm rmsnorm')));
  expect(shown && !hidden, `${shown}, ${hidden}`);
  await page.close();
});

test('a slow row is shown as slow, not as a failure', async (context) => {
  const page = await changed(context, 'view=overview', (lab) => {
    first_rows(lab);
    lab.rows.forEach((row, i) => Object.assign(row, { happened: i ? 'trains' : 'does not train', trained: i ? 1 : 0, slow: !i }));
  });
  const card = await page.textContent('.card >> nth=0');
  expect(/slow/.test(card) && !/does not train/.test(card), card);
  expect((await page.$('.card.warn')) && !(await page.$('.card.bad')), 'it has the colour of a failure');
  expect(/ is slow: more steps/.test(await page.textContent('.lead')), await page.textContent('.lead'));
  await page.close();
});

test('preflight says how far its verdict reaches, and what there is to note', async (context) => {
  if (!context.first) throw new Skip('done on the first page');
  const one = {
    name: 'p',
    verdict: 'will not train',
    confidence: 0.84,
    horizon: 300,
    reason: 'tokens are alike',
    beyond_measured: 'none of them was wider than 88',
    notes: ['the first note <b>', 'the second'],
    advice: [],
  };
  const preflights = [one, { ...one, verdict: 'trains', beyond_measured: null, notes: [] }];
  const file = with_data(context.file, { format: 1, version: '0', preflights }, 'preflight');
  const { page, problems } = await open(context, 'view=preflight', { file });
  const lead = await page.textContent('.lead');
  expect(
    lead.includes('84 % of held-out runs, but none of them was wider than 88; the verdict is for the first 300 steps.'),
    lead,
  );
  const notes = await page.$$eval('.notes li', (all) => all.map((n) => n.textContent));
  expect(notes.join('|') === 'The first note <b>.|The second.', notes.join('|'));
  expect(/No change that was tried passed/.test(await page.textContent('.advice')), await page.textContent('.advice'));
  await page.evaluate(() => (location.hash = 'view=preflight&p=1'));
  await drawn(page);
  expect(
    (await page.textContent('.lead')).includes('84 % of held-out runs; the verdict is for the first 300 steps.'),
    'a null is written',
  );
  expect(/None is needed\.$/.test(await page.textContent('.advice')) && !(await page.$('.notes')), 'advice where all is well');
  expect(!problems.length, problems.join('\n'));
  await page.close();
});

test('a CSV file holds no text that a spreadsheet would compute', async (context) => {
  const labels = ['-2+3+cmd|x', '=1+1', '@SUM(A1)', '+5', '-.5-1', '-1.5e-3', '-7', 'pre-ln'];
  const page = await changed(context, 'view=overview', (lab) => {
    const [row] = lab.rows;
    lab.rows = labels.map((label) => ({ ...row, label, label_in_act: label, runs: row.runs.slice(0, 1) }));
  });
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('.loss [data-file=csv]')]);
  const lines = readFileSync(await download.path(), 'utf8').split('\r\n');
  const found = [...new Set(lines.slice(1, -1).map((l) => l.split(',')[0]))];
  const expected = ["'-2+3+cmd|x", "'=1+1", "'@SUM(A1)", "'+5", "'-.5-1", '-1.5e-3', '-7', 'pre-ln'];
  expect(found.join(' ') === expected.join(' '), found.join(' '));
  await page.close();
});

test('a grid over other options keeps their values apart, and leaves out copies that try one change', async (context) => {
  const page = await changed(context, 'view=grid', (lab) => {
    const [row] = lab.rows;
    const made = [];
    for (const norm of ['layernorm', 'rmsnorm'])
      for (const lr of [1e-3, 2e-3]) {
        const options = { ...row.options, norm, lr };
        const trains = norm === 'rmsnorm' || lr < 2e-3;
        made.push({ ...row, options, asked: { norm, lr }, happened: trains ? 'trains' : 'does not train', slow: false });
      }
    const options = { ...row.options, norm: 'layernorm', lr: 8e-3 };
    made.push({ ...made[0], options, asked: { norm: 'layernorm', lr: 8e-3 }, happened: 'trains', instead_of: 1 });
    lab.rows = made;
  });
  const lines = await page.$$eval('table', (all) =>
    all
      .filter((t) => t.caption.textContent === 'Largest learning rate that trains')
      .flatMap((t) => Array.from(t.tBodies[0].rows, (r) => Array.from(r.cells, (c) => c.textContent).join(' | '))),
  );
  expect(lines.length === 2, lines.join('; '));
  expect(/norm layernorm \|.*\| 0\.001 \| 0\.001, 0\.002$/.test(lines[0]), lines[0]);
  expect(/norm rmsnorm \|.*\| 0\.002 \| 0\.001, 0\.002$/.test(lines[1]), lines[1]);
  const cells = await page.$$eval('.tables caption', (all) => all.map((c) => c.textContent));
  expect(cells.length === 2 && cells[1].endsWith('norm rmsnorm'), cells.join('; '));
  const groups = await page.$$eval('.legend li', (all) => all.map((c) => c.textContent.trim()));
  expect(groups.length === 2 && groups[0].endsWith('norm layernorm'), groups.join('; '));
  await page.close();
});

test('under a step that a run did not reach, it is not drawn', async (context) => {
  let short = '';
  const page = await changed(context, 'view=learn&topic=skip', (lab) => {
    first_rows(lab);
    short = lab.rows[0].arrangement;
    for (const i of lab.rows[0].runs) for (const p of lab.runs[i]?.probes ?? []) p.step = p.step.slice(0, 2);
  });
  const slider = page.locator('input[type=range]').first();
  if (!(await slider.count())) throw new Skip('the page has no probes');
  const names = () => page.$$eval('.topic .figure svg.chart [data-series]', (all) => all.map((s) => s.dataset.series));
  const before = await names();
  expect(before.includes(short), `${short} is not drawn at first: ${before.join()}`);
  const last = await slider.getAttribute('max');
  expect(Number(last) > 1, 'the slider ends with the shortest run');
  await slider.fill(last);
  await drawn(page);
  const after = await names();
  expect(!after.includes(short) && after.length === before.length - 1, after.join());
  await page.close();
});

test('single steps of a single run are shaded, and maps say how many records they have', async (context) => {
  const page = await changed(context, 'view=overview', (lab, all) => {
    const run = lab.runs.find((r) => r.probes?.length);
    if (!run) throw new Skip('the page has no probes');
    const step = Array.from({ length: 40 }, (_, i) => 10 * (i + 1));
    const loss = step.map((s) => 2 + 100 / (s + 50));
    const curve = { step, loss, least: loss.map((v) => v - 0.1), most: loss.map((v, i) => (i === 30 ? v + 0.6 : v + 0.1)) };
    const probes = run.probes.map((p) => ({ ...p, of_records: 999, of_units: 777 }));
    all.labs = [];
    all.trains = [{ name: 'one', options: { arrangement: 'pre-ln' }, curve, probes }];
  });
  const band = await page.$eval('.loss .band', (b) => b.getAttribute('d'));
  expect(band.length > 300, `the shade is "${band}"`);
  await page.evaluate(() => (location.hash = 'view=maps'));
  await drawn(page);
  const text = await page.textContent('.maps');
  expect(/\d+ of 999 records, \d+ of 777 units/.test(text), text);
  await page.close();
});
