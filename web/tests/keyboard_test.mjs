// Everything that a mouse can reach, the Tab key reaches too.
import { drawn, open, views_of } from './browser.mjs';
import { expect, Skip, test } from './harness.mjs';

test('the Tab key reaches every control of every view', async (context) => {
  const { page } = await open(context);
  for (const view of await views_of(page)) {
    await page.click(`.tabs a[data-view="${view}"]`);
    await drawn(page);
    const wanted = await page.evaluate(() => {
      const all = Array.from(document.querySelectorAll('a[href], button, select, input, summary, [tabindex="0"]')).filter(
        (e) => e.checkVisibility({ visibilityProperty: true }) && e.tabIndex >= 0,
      );
      all.forEach((e, i) => e.setAttribute('data-test', i));
      return all.length;
    });
    await page.evaluate(() => {
      document.activeElement?.blur?.();
      scrollTo(0, 0);
    });
    const seen = new Set();
    // Boxes that scroll take the focus as well, so there are more stops than controls.
    for (let i = 0; i < 260 && seen.size < Math.min(wanted, 150); ++i) {
      await page.keyboard.press('Tab');
      const at = await page.evaluate(() => document.activeElement?.getAttribute('data-test'));
      if (at) seen.add(at);
    }
    expect(seen.size >= Math.min(wanted, 150), `${view}: ${seen.size} of ${wanted}`);
  }
  await page.close();
});

test('arrow keys read a heat map, Enter opens a unit, and the focus stays', async (context) => {
  const { page } = await open(context, 'view=maps');
  if (!(await page.$('.heat'))) throw new Skip('no maps');
  await page.focus('.heat >> nth=0');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowLeft');
  expect(await page.isVisible('.tooltip'), 'no reading');
  await page.keyboard.press('Enter');
  await drawn(page);
  await page.waitForTimeout(500);
  expect(await page.isVisible('.history'), 'no history');
  expect(await page.evaluate(() => document.activeElement?.classList.contains('heat')), 'the focus is lost');
  await page.close();
});

test('arrow keys read a curve', async (context) => {
  const { page } = await open(context, 'view=overview');
  if (!(await page.$('.loss svg'))) throw new Skip('no curves');
  await page.focus('.loss svg.chart');
  await page.keyboard.press('ArrowLeft');
  expect(/step/.test(await page.textContent('.tooltip')), 'no reading');
  await page.keyboard.press('Escape');
  expect(!(await page.isVisible('.tooltip')), 'it stays');
  await page.close();
});
