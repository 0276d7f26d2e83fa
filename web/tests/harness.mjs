// A list of tests, run one after the other: two cores are shared with others.
import { performance } from 'node:perf_hooks';

const tests = [];

export function test(name, run) {
  tests.push({ name, run });
}

export class Skip extends Error {}

export function expect(truth, ...message) {
  if (!truth) throw new Error(message.join(' ') || 'not as expected');
}

/** A page that never answers must not hold up everything. */
function late(seconds) {
  return new Promise((_, fail) => setTimeout(() => fail(new Error(`not done after ${seconds} seconds`)), seconds * 1000).unref());
}

export async function run_all(context, only) {
  const count = { passed: 0, failed: 0, skipped: 0 };
  for (const { name, run } of tests) {
    if (only && !name.includes(only)) continue;
    const begun = performance.now();
    try {
      await Promise.race([run(context), late(120)]);
      ++count.passed;
      console.log(`ok   ${name} (${Math.round(performance.now() - begun)} ms)`);
    } catch (error) {
      if (error instanceof Skip) {
        ++count.skipped;
        console.log(`skip ${name}: ${error.message}`);
      } else {
        ++count.failed;
        await context.again?.(); // whatever hangs, hangs in the old browser
        console.log(
          `FAIL ${name}\n     ${String(error?.stack ?? error)
            .split('\n')
            .slice(0, 4)
            .join('\n     ')}`,
        );
      }
    }
  }
  return count;
}
