// What is looked at is in the address, and comes back from it.
import { drawn, open, views_of } from './browser.mjs';
import { expect, Skip, test } from './harness.mjs';

test('the address restores a view with its choices', async (context) => {
  const { page } = await open(context);
  if (!(await views_of(page)).includes('maps')) throw new Skip('no maps');
  await page.click('.tabs a[data-view="maps"]');
  await page.click('.toggles button:has-text("Stream RMS")');
  await drawn(page);
  await page
    .click('.heat >> nth=1', { position: { x: 120, y: 50 } })
    .catch(() => page.click('.heat >> nth=0', { position: { x: 120, y: 50 } }));
  await drawn(page);
  const fragment = new URL(page.url()).hash.slice(1);
  const title = await page.textContent('.history h2');
  const second = await open(context, fragment);
  expect((await second.page.textContent('.history h2')) === title, 'another history');
  expect((await second.page.textContent('.toggles button[aria-pressed="true"]')) === 'Stream RMS', 'another metric');
  await page.close();
  await second.page.close();
});

test('back and forward go through the views', async (context) => {
  const { page } = await open(context);
  const views = await views_of(page);
  await page.click(`.tabs a[data-view="${views[1]}"]`);
  await page.click('.tabs a[data-view="learn"]');
  await page.goBack();
  await drawn(page);
  expect((await page.getAttribute('.tabs a[aria-current]', 'data-view')) === views[1], 'back');
  await page.goForward();
  await drawn(page);
  expect((await page.getAttribute('.tabs a[aria-current]', 'data-view')) === 'learn', 'forward');
  await page.close();
});

test('an address full of nonsense still shows a page', async (context) => {
  const { page, problems } = await open(
    context,
    'view=nowhere&lab=99&act=x&metric=%3Cb%3E&cell=1.2&row=-5&depth=NaN&a=zzz&p=7&topic=zzz',
  );
  for (const view of await views_of(page)) {
    await page.click(`.tabs a[data-view="${view}"]`);
    await drawn(page);
    expect(!(await page.$('main .problem')), view);
  }
  expect(!problems.length, problems.join('\n'));
  await page.close();
});
