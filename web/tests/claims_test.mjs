// Claims: all that a record says is shown, and links between claims lead there.
import { changed, drawn, open, read_data, views_of } from './browser.mjs';
import { expect, Skip, test } from './harness.mjs';

const shown = (page, id) => page.textContent(`#claim-${id} .claim-body`);

/** A claim of the page that is open, as its data has it. */
async function opened(context, id) {
  if (!context.first) throw new Skip('done on the first page');
  const { page, problems } = await open(context, `view=claims&claim=${id}&find=${id}`);
  if (!(await views_of(page)).includes('claims')) throw new Skip('this page has no claims');
  const sets = read_data(context.file).claims.filter((s) => s.claims.some((c) => c.id === id));
  if (!sets.length) throw new Skip(`this page has no ${id}`);
  return { page, problems, claim: (sets.find((s) => !s.shipped) ?? sets[0]).claims.find((c) => c.id === id) };
}

test('a claim shows its verdict and numbers under each rule of initialisation, and how weights start', async (context) => {
  const { page, problems, claim } = await opened(context, 'S12');
  expect(claim.inits?.length === 2 && claim.start, 'the data does not say it');
  const text = await shown(page, 'S12');
  for (const [i, name] of ['Xavier’s', 'GPT-2’s'].entries()) {
    expect(text.includes(`Measured with ${name} weights: ${claim.inits[i].measured}`), `${name}: ${text}`);
    expect(text.includes(`S12 in numbers, ${name} weights`), `${name}: no figure`);
  }
  const badges = await page.$$eval('#claim-S12 .claim-body .badge', (all) => all.map((b) => b.textContent.trim().slice(2)));
  expect(badges.join('|') === claim.inits.map((r) => r.verdict).join('|'), badges.join('|'));
  expect((await page.$$('#claim-S12 .claim-body svg.chart')).length === 2, 'not one figure for each rule');
  expect(text.includes(`Start: ${claim.start}`), text);
  expect(!problems.length, problems.join('\n'));
  await page.close();
});

for (const [one, other] of [
  ['S50', 'C34'],
  ['S09', 'C21'],
])
  test(`${one} and ${other} lead to each other, whatever the list was narrowed to`, async (context) => {
    const { page, claim } = await opened(context, one);
    expect((await shown(page, one)).includes(`See ${other}: ${claim.see?.[0].why}`), await shown(page, one));
    await page.click('button:text-is("texts")');
    for (const [from, to] of [
      [one, other],
      [other, one],
    ]) {
      await drawn(page);
      await page.click(`#claim-${from} .claim-body a:text-is("${to}")`);
      await drawn(page);
      expect(await page.isVisible(`#claim-${to} .claim-body`), `${to} is not open`);
    }
    await page.close();
  });

test('what a verdict was before the initialisation was held equal is said', async (context) => {
  const earlier = { verdict: 'seen at this scale', why: 'with GPT-2’s weights <b>nothing</b> is left to rescue' };
  const page = await changed(context, 'view=claims&claim=S1', (_, all) => {
    all.claims = [{ name: 'own', shipped: false, claims: [{ id: 'S1', claim: 'c', verdict: 'false', measured: 'm', earlier }] }];
  });
  const text = await shown(page, 'S1');
  expect(text.includes(`was "${earlier.verdict}" before the initialisation was held equal: ${earlier.why}`), text);
  await page.close();
});

test('what else changed a verdict is said in the words of the result', async (context) => {
  const earlier = { verdict: 'mixed', why: 'one seed less', since: 'before the same was measured again, near its line' };
  const page = await changed(context, 'view=claims&claim=S1', (_, all) => {
    const verdict = 'true with Xavier’s weights; with GPT-2’s it is not decided';
    all.claims = [{ name: 'own', shipped: false, claims: [{ id: 'S1', claim: 'c', verdict, measured: 'm', earlier }] }];
  });
  const text = await shown(page, 'S1');
  expect(text.includes(`was "mixed" ${earlier.since}: one seed less`), text);
  expect(/1 true with …/.test(await page.textContent('.lead')), await page.textContent('.lead'));
  await page.close();
});

test('a link to a claim that another set of the page has leads into that set', async (context) => {
  const page = await changed(context, 'view=claims&claim=S1', (_, all) => {
    const claim = (id, see) => ({ id, claim: `claim ${id}`, verdict: 'true', measured: 'm', see: see ? [{ id: see, why: 'w' }] : [] });
    all.claims = [
      { name: 'own', shipped: false, claims: [claim('S1', 'C2')] },
      { name: 'built in', shipped: true, claims: [claim('C2')] },
    ];
  });
  await page.click('#claim-S1 .claim-body a:text-is("C2")');
  await drawn(page);
  expect(await page.isVisible('#claim-C2 .claim-body'), await page.textContent('.claims'));
  await page.selectOption('.controls select >> nth=0', { label: 'own' });
  await page.fill('input[type=search]', '');
  await drawn(page);
  expect(await page.isVisible('#claim-S1'), 'the other set cannot be chosen any more');
  await page.close();
});

test('every view renders: claims, each of them opened', async (context) => {
  const { page, problems } = await open(context, 'view=claims', { width: 400 });
  if (!(await views_of(page)).includes('claims')) throw new Skip('this page has no claims');
  const count = await page.$$eval('details.claim', (all) => all.slice(0, 30).map((d) => (d.open = true)).length);
  await drawn(page);
  expect((await page.$$('.claim-body')).length === count, 'a claim stays empty');
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(over <= 0 && !(await page.$('img')), `${over} pixels too wide, or an <img> was made`);
  expect(!problems.length, problems.join('\n'));
  await page.close();
});
