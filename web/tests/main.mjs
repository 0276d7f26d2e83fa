// web/tests/run REPORT.html...: every test on the first page, and the quick ones on the others.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { launch } from './browser.mjs';
import { run_all } from './harness.mjs';

const files = process.argv
  .slice(2)
  .filter((a) => !a.startsWith('--'))
  .map((f) => resolve(f));
const only = process.argv.find((a) => a.startsWith('--only='))?.slice(7);

function leave(line, code) {
  console.log(line);
  process.exit(code);
}

if (!files.length) leave('usage: web/tests/run REPORT.html... [--only=WORDS]\n0 passed, 1 failed, 0 skipped', 2);
for (const file of files) if (!existsSync(file)) leave(`${file} does not exist\n0 passed, 1 failed, 0 skipped`, 1);

let browser;
try {
  browser = await launch();
} catch (error) {
  const why = String(error.message).includes('playwright-core')
    ? 'playwright-core is not installed (npm ci in web/tests)'
    : `no browser: ${String(error.message).split('\n')[0]}`;
  leave(`skipped: ${why}\n0 passed, 0 failed, 1 skipped`, 0);
}

/** A new browser in place of one that a failed test may have left in any state. */
async function again() {
  await Promise.race([browser.close().catch(() => undefined), new Promise((done) => setTimeout(done, 5000))]);
  this.browser = browser = await launch();
}

const kParts = 'file views overview claims learn questions terms interaction state keyboard looks hostile cases xray large'.split(' ');
const sum = { passed: 0, failed: 0, skipped: 0 };
const add = (count) => Object.keys(sum).forEach((k) => (sum[k] += count[k]));
for (const name of kParts)
  await import(`./${name}_test.mjs`);
add(await run_all({ browser, again, file: files[0], files, first: true }, only));
for (const file of files.slice(1)) {
  console.log(`# ${file}`);
  add(await run_all({ browser, again, file, first: false }, only ?? 'every view renders'));
}
await browser.close();
leave(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`, sum.failed ? 1 : 0);
