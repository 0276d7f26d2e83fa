// Every view renders with data, wide and narrow, and nobody complains.
import { drawn, open, problem_of, read_data, topics_of, views_of } from './browser.mjs';
import { expect, test } from './harness.mjs';

const kHold = {
  overview: '.card, .figure',
  maps: '.heat',
  xray: '.unit-bar',
  layers: '.diagram, .side',
  grid: '.chart',
  claims: '.claim',
  preflight: '.advice',
  learn: '.topic p',
};

test('every view renders with data and without a complaint', async (context) => {
  const { page, problems } = await open(context);
  const views = await views_of(page);
  const data = read_data(context.file);
  expect(views.includes('learn') && (!data.labs?.length || views.includes('overview')), views.join());
  for (const view of views) {
    await page.click(`.tabs a[data-view="${view}"]`);
    await drawn(page);
    expect((await page.$$(`main ${kHold[view]}`)).length > 0, `${view} is empty`);
    const problem = await problem_of(page);
    expect(!problem, `${view}: ${problem}`);
    expect((await page.$$('img')).length === 0, `${view}: an <img> was made`);
    expect((await page.$$('main h1')).length === 1, `${view} has no single heading`);
  }
  expect(!problems.length, problems.join('\n'));
  await page.close();
});

test('every view renders 400 pixels wide without scrolling sideways', async (context) => {
  const { page, problems } = await open(context, '', { width: 400 });
  for (const view of await views_of(page)) {
    await page.click(`.tabs a[data-view="${view}"]`);
    await drawn(page);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(over <= 0, `${view} is ${over} pixels too wide`);
  }
  await page.click('.tabs a[data-view="learn"]');
  for (const topic of await topics_of(page)) {
    await page.evaluate((t) => (location.hash = `view=learn&topic=${t}`), topic);
    await drawn(page);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(over <= 0, `topic ${topic} is ${over} pixels too wide`);
  }
  expect(!problems.length, problems.join('\n'));
  await page.close();
});

test('every tab is in sight on a screen of any width', async (context) => {
  const { page } = await open(context);
  const views = await views_of(page);
  for (const width of [320, 400, 500, 640, 700, 900]) {
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate(() => scrollTo(0, 0));
    const hidden = await page.$$eval('.tabs a', (tabs) =>
      tabs
        .filter((tab) => {
          const box = tab.getBoundingClientRect();
          const seen = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
          return seen !== tab || box.left < 0 || box.right > innerWidth || box.height < 24;
        })
        .map((tab) => tab.textContent),
    );
    expect(!hidden.length, `${width} pixels wide: ${hidden.join(', ')} of ${views.length} tabs cannot be seen`);
  }
  await page.close();
});

test('every topic of Learn has words, and its figures are drawn', async (context) => {
  const { page, problems } = await open(context, 'view=learn');
  const topics = await topics_of(page);
  expect(topics.length === 12, topics.join());
  for (const topic of topics) {
    await page.evaluate((t) => (location.hash = `view=learn&topic=${t}`), topic);
    await drawn(page);
    const empty = await page.$$eval('.topic .drawing', (all) => all.filter((d) => !d.querySelector('svg')).length);
    expect(empty === 0 && (await page.$('main .problem')) === null, `topic ${topic}: ${empty} figures are not drawn`);
  }
  await page.evaluate(() => (location.hash = 'view=learn&topic=questions'));
  await drawn(page);
  expect((await page.$$('.question')).length === 13, 'there are not 13 questions');
  expect(!problems.length, problems.join('\n'));
  await page.close();
});

test('the first screen has formulas as MathML and the lines of reference', async (context) => {
  if (!read_data(context.file).labs?.length) return;
  const { page } = await open(context);
  expect((await page.$$('.card math')).length > 0, 'no formula');
  const text = await page.textContent('.first');
  for (const word of ['unigram', 'bigram', 'floor', 'predicted', 'happened']) expect(text.includes(word), `"${word}" is missing`);
  expect((await page.$$('.card.bad')).length > 0, 'no configuration fails');
  const causes = await page.$$eval('.card .cause', (all) => all.map((c) => c.parentElement.textContent));
  expect(
    causes.some((c) => /^(Cause, confirmed|Suspected): ./.test(c)),
    `no card has a cause: ${causes.join('; ')}`,
  );
  expect((await page.$$('.loss .line')).length > 1 && (await page.$$('.loss .band')).length > 0, 'lines or shades are missing');
  await page.close();
});
