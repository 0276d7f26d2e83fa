// For every eye: axe-core in both colour schemes, and on paper.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { drawn, open, topics_of, views_of } from './browser.mjs';
import { expect, test } from './harness.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

for (const dark of [false, true])
  test(`axe-core finds no serious problem, ${dark ? 'dark' : 'light'}`, async (context) => {
    const { page } = await open(context, '', { dark });
    const bad = [];
    const look = async (where) => {
      await drawn(page);
      // By the debugger's way in: the page's own policy allows no further script.
      const found = await page.evaluate(async () =>
        (await window.axe.run(document, { resultTypes: ['violations'] })).violations
          .filter((v) => ['serious', 'critical'].includes(v.impact))
          .map(
            (v) =>
              `${v.id}: ${v.nodes
                .slice(0, 3)
                .map((n) => n.html.slice(0, 160))
                .join(' | ')}`,
          ),
      );
      bad.push(...found.map((f) => `${where}: ${f}`));
    };
    await page.evaluate(axe);
    for (const view of await views_of(page)) {
      await page.click(`.tabs a[data-view="${view}"]`);
      await look(view);
    }
    if (!dark)
      for (const topic of await topics_of(page)) {
        await page.evaluate((t) => (location.hash = `view=learn&topic=${t}`), topic);
        await look(topic);
      }
    await page.evaluate(() => (location.hash = 'view=learn&topic=questions&answers=0000000000000'));
    await look('questions, answered');
    expect(!bad.length, bad.join('\n     '));
    await page.close();
  });

test('the colour scheme can be chosen, and stays chosen', async (context) => {
  const { page } = await open(context);
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await paper();
  await page.click('.theme');
  await page.click('.theme');
  expect((await paper()) !== light && (await page.getAttribute('html', 'data-theme')) === 'dark', 'no dark');
  await page.reload();
  await page.waitForSelector('html[data-ready]');
  expect((await paper()) !== light && (await page.getAttribute('html', 'data-theme')) === 'dark', 'light again after a reload');
  await page.close();
});

test('it prints: no controls, nothing cut off', async (context) => {
  const { page } = await open(context);
  const views = await views_of(page);
  await page.emulateMedia({ media: 'print' });
  await drawn(page);
  expect(
    !(await page.isVisible('.tabs')) && !(await page.isVisible('.files >> nth=0').catch(() => false)),
    'controls are printed',
  );
  for (const width of [1280, 718]) {
    await page.setViewportSize({ width, height: 900 }); // 718: an A4 sheet between its margins
    for (const view of views) {
      await page.evaluate((v) => (location.hash = `view=${v}`), view);
      await drawn(page);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(over <= 0, `${view} is ${over} pixels wider than a sheet of ${width}`);
    }
  }
  const pdf = await page.pdf({ format: 'A4' });
  expect(pdf.length > 5000, `${pdf.length} bytes`);
  await page.close();
});
