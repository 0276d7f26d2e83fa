// Words that explain themselves where they stand.
import { drawn, open, topics_of, views_of } from './browser.mjs';
import { expect, Skip, test } from './harness.mjs';

async function glossary(context) {
  const { page } = await open(context, 'view=learn&topic=glossary');
  const words = await page.$$eval('.glossary div', (all) =>
    all.map((d) => [d.querySelector('dt').textContent, d.querySelector('dd').textContent]),
  );
  await page.close();
  return new Map(words);
}

/** Of every term in sight: its text, and what describes it. */
const terms_of = (page) =>
  page.$$eval('main .term', (all) =>
    all.map((t) => ({
      text: t.textContent,
      word: document.getElementById(t.getAttribute('aria-describedby'))?.previousElementSibling?.textContent,
      meaning: document.getElementById(t.getAttribute('aria-describedby'))?.textContent,
    })),
  );

test('terms are described by the glossary, in every view and topic', async (context) => {
  const words = await glossary(context);
  for (const word of ['spread', 'unit', 'unigram', 'floor', 'nats', 'skip gain']) expect(words.has(word), `no word "${word}"`);
  expect(new Set(words.values()).size === words.size, 'two words are the same');
  const { page, problems } = await open(context);
  const found = {};
  const look = async (where) => {
    await drawn(page);
    const text = await page.textContent('main');
    expect(!/\[\[|\]\]/.test(text), `${where}: ${/.{20}(\[\[|\]\]).{20}/.exec(text)?.[0]}`);
    for (const { text: shown, word, meaning } of await terms_of(page)) {
      expect(meaning && meaning === words.get(word), `${where}, ${shown}: ${meaning}`);
      (found[where] ??= new Set()).add(word);
    }
    const ids = await page.$$eval('[id^="word-"]', (all) => all.map((e) => e.id));
    expect(new Set(ids).size === ids.length, `${where}: a word is defined twice: ${ids}`);
  };
  for (const view of await views_of(page)) {
    await page.click(`.tabs a[data-view="${view}"]`);
    await look(view);
  }
  for (const topic of await topics_of(page)) {
    await page.evaluate((t) => (location.hash = `view=learn&topic=${t}`), topic);
    await look(topic);
  }
  const wanted = {
    overview: ['nats', 'unigram', 'floor', 'unit', 'spread'],
    maps: ['unit'],
    layers: ['skip gain'],
    preflight: ['skip gain', 'spread'],
    'add-norm': ['unit', 'skip gain', 'spread'],
    'warm-up': ['spread'],
    'final-norm': ['unit'],
  };
  const views = await views_of(page);
  for (const [where, list] of Object.entries(wanted))
    if (views.includes(where) || /-/.test(where))
      for (const word of list) expect(found[where]?.has(word), `${where} does not explain "${word}": ${[...(found[where] ?? [])]}`);
  expect(!problems.length, problems.join('\n'));
  await page.close();
});

test('a card explains its own words', async (context) => {
  const { page } = await open(context, 'view=overview');
  if (!(await page.$('.card .cause'))) throw new Skip('no card has a cause');
  const words = await page.$$eval('.card .term', (all) => new Set(all.map((t) => t.textContent)).size);
  const floor = await page.locator('.card .facts .term').first().textContent();
  expect(words > 1 && floor === 'floor', `${words} words, ${floor}`);
  const twice = await page.$$eval('.card .why', (all) =>
    all.filter((p) => {
      const names = Array.from(p.querySelectorAll('.term'), (t) => t.getAttribute('aria-describedby'));
      return new Set(names).size < names.length;
    }).length,
  );
  expect(!twice, 'a word is marked twice in one sentence');
  await page.close();
});

/** The first term in sight, and the box as it is. */
async function at_term(context, options = {}) {
  const { page } = await open(context, 'view=learn&topic=add-norm', options);
  const word = page.locator('.term', { hasText: 'skip gain' }).first();
  await word.scrollIntoViewIfNeeded();
  const box = page.locator('.tooltip');
  const says = async () => (await box.isVisible()) && (await box.textContent()).startsWith('skip gain How much');
  return { page, word, box, says };
}

test('a term explains itself under the pointer, and the pointer may go into the box', async (context) => {
  const { page, word, box, says } = await at_term(context);
  expect(!(await box.count()) || !(await box.isVisible()), 'it is there already');
  await word.hover();
  expect(await says(), 'nothing under the pointer');
  const place = await box.boundingBox();
  await page.mouse.move(place.x + 20, place.y + place.height / 2, { steps: 4 });
  await page.waitForTimeout(400);
  expect(await says(), 'it goes when one wants to read it');
  await page.mouse.move(2, 2);
  await page.waitForTimeout(400);
  expect(!(await box.isVisible()), 'it stays');
  await word.hover();
  await page.keyboard.press('Escape');
  expect(!(await box.isVisible()), 'Escape does not close it');
  await page.close();
});

test('a term explains itself by the keyboard', async (context) => {
  const { page, word, box, says } = await at_term(context);
  const focused = () => word.evaluate((w) => w === document.activeElement);
  for (let i = 0; i < 60 && !(await focused()); ++i) await page.keyboard.press('Tab');
  expect((await focused()) && (await says()), 'the Tab key does not open it');
  expect((await box.getAttribute('aria-live')) === 'off', 'it is read twice');
  await page.keyboard.press('Escape');
  expect(!(await box.isVisible()) && (await focused()), 'Escape does not close it');
  await page.keyboard.press('Enter');
  expect(await says(), 'Enter does not open it');
  await page.keyboard.press('Tab');
  expect(!(await says()), 'it stays when the focus has gone'); // the next word may have opened
  await page.close();
});

test('a term explains itself when tapped, inside a narrow window', async (context) => {
  const { page, word, box, says } = await at_term(context, { width: 400, touch: true });
  await word.tap();
  expect(await says(), 'a tap does not open it');
  const place = await box.boundingBox();
  expect(place.x >= 0 && place.x + place.width <= 400 && place.y >= 0 && place.y + place.height <= 900, JSON.stringify(place));
  const line = await word.boundingBox();
  expect(place.y >= line.y + line.height - 2 || place.y + place.height <= line.y + 2, 'it covers the word');
  await page.touchscreen.tap(200, 5);
  expect(!(await box.isVisible()), 'a tap elsewhere does not close it');
  await page.close();
});

test('paper lists the words of its view', async (context) => {
  const words = await glossary(context);
  const { page } = await open(context, 'view=grid'); // has words that the topic has not
  await page.evaluate(() => (location.hash = 'view=learn&topic=add-norm'));
  await drawn(page);
  expect(!(await page.isVisible('.words-used')), 'the list is on the screen');
  await page.emulateMedia({ media: 'print' });
  const listed = await page.$$eval('.words-used dt', (all) => all.map((w) => w.textContent));
  expect((await page.isVisible('.words-used')) && listed.includes('skip gain'), listed.join());
  const used = new Set((await terms_of(page)).map((t) => t.word));
  expect(listed.every((w) => used.has(w) && words.has(w)), `${listed} are listed, ${[...used]} are used`);
  await page.close();
});
