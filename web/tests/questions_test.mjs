// The questions: chosen, checked, counted; nothing is given away before, and all is there on paper.
import { drawn, open } from './browser.mjs';
import { expect, test } from './harness.mjs';

const kAt = 'view=learn&topic=questions';
const question = (page, n) => page.locator('.question').nth(n - 1);
const seen = (page, selector) => page.$$eval(selector, (all) => all.filter((e) => e.checkVisibility()).length);

async function answer(page, n, choice) {
  await question(page, n).locator('input').nth(choice).check();
  await question(page, n).locator('.reveal').click();
}

test('questions give nothing away before they are answered', async (context) => {
  const { page } = await open(context, kAt);
  for (const sign of ['.question .badge', '.outcome', '.evidence', '.mark', '.wrong', '.on-paper', '.question.good', '.question.bad'])
    expect((await seen(page, sign)) === 0, `${sign} is there already`);
  expect((await seen(page, '.question input:not(:checked)')) === 52, 'there are not four answers to each of 13 questions');
  expect(await question(page, 1).locator('.reveal').isDisabled(), 'nothing is chosen, and it can be checked');
  await question(page, 3).locator('input').nth(1).check();
  expect((await seen(page, '.outcome')) === 0, 'choosing alone shows the answer');
  await page.close();
});

test('an answer is checked, shown and counted, and the others stay closed', async (context) => {
  const { page } = await open(context, kAt);
  const score = () => page.textContent('.score [role=status]');
  expect(/none answered/.test(await score()), await score());
  await answer(page, 3, 1);
  expect(/^0 right of 1 answered/.test(await score()), await score());
  const third = await question(page, 3).textContent();
  expect(/Not so: you chose "About x/.test(third) && /not as printed/.test(third) && /S26/.test(third), third);
  expect((await seen(page, '.outcome')) === 1, 'others have opened');
  await answer(page, 1, 1);
  expect(/^1 right of 2 answered/.test(await score()), await score());
  expect(await question(page, 1).locator('.summary').isVisible(), 'no word of it');
  expect((await question(page, 1).locator('.summary').textContent()) === 'Right.', 'it was right');
  expect(await question(page, 1).locator('input').first().isDisabled(), 'the answer can be changed afterwards');
  await page.close();
});

test('answers are kept on the page until one starts again', async (context) => {
  const { page } = await open(context, kAt);
  await answer(page, 2, 0);
  await page.click('.topics a >> nth=0');
  await drawn(page);
  await page.click('.topics a:text("Thirteen questions")');
  await drawn(page);
  expect(await question(page, 2).locator('.outcome').isVisible(), 'lost on the way to another topic');
  await page.reload();
  await page.waitForSelector('html[data-ready]');
  expect(await question(page, 2).locator('input').first().isChecked(), 'lost by a reload');
  expect(/^1 right of 1/.test(await page.textContent('.score')), await page.textContent('.score'));
  await page.click('.score button');
  expect((await seen(page, '.outcome')) === 0 && /none answered/.test(await page.textContent('.score')), 'it does not start again');
  expect(!page.url().includes('answers'), page.url());
  await page.close();
});

test('questions are answered by the keyboard alone', async (context) => {
  const { page } = await open(context, kAt);
  const focused = (selector) => page.evaluate((s) => document.activeElement.matches(s), selector);
  for (let i = 0; i < 40 && !(await focused('.question input')); ++i) await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await page.keyboard.press('ArrowDown');
  expect((await seen(page, '.outcome')) === 0, 'an arrow key answers');
  await page.keyboard.press('Tab');
  expect(await focused('.question:first-child .reveal'), 'Tab does not lead to the button');
  await page.keyboard.press('Enter');
  expect(await focused('.question:first-child .outcome'), 'the focus is lost');
  expect(/Right\./.test(await question(page, 1).textContent()), await question(page, 1).textContent());
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  expect(await focused('.question:nth-child(2) input'), 'the next question does not follow');
  await page.close();
});

test('on paper every question has its answer, which is one of those to choose from', async (context) => {
  const { page } = await open(context, kAt, { width: 718 });
  await page.emulateMedia({ media: 'print' });
  expect((await seen(page, '.outcome')) === 13 && (await seen(page, '.question .reveal')) === 0, 'answers are missing on paper');
  const all = await page.$$eval('.question', (list) =>
    list.map((q) => ({
      options: Array.from(q.querySelectorAll('label'), (l) => l.textContent),
      answer: q.querySelector('.on-paper').textContent.replace(/^Answer: (.*)\.$/, '$1'),
    })),
  );
  for (const { options, answer } of all) expect(new Set(options).size === 4 && options.includes(answer), `${answer}: ${options}`);
  await page.emulateMedia({ media: 'screen' });
  expect((await seen(page, '.outcome')) === 0, 'they stay open afterwards');
  await page.close();
});

test('answers in the address that are none are not taken for answers', async (context) => {
  const { page, problems } = await open(context, `${kAt}&answers=9x-7%3Cb%3E0`);
  expect(/of 1 answered/.test(await page.textContent('.score')), await page.textContent('.score')); // the last digit is one
  expect(!problems.length, problems.join('\n'));
  await page.close();
});
