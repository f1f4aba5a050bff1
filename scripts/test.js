// Runs everything that a change has to pass (`npm test`): the checks one after the other, beside the tests, which often
// wait for other processes. Prints the output of each check once the tests have ended.
import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { text } from 'node:stream/consumers';

const CHECKS = ['check:style', 'check:lint', 'check:types', 'check:patterns', 'check:dead-code'];
/** The priority of the checks, which give way to the tests. */
const CHECKS_PRIORITY = 4;

const checks = runChecks();
const failedNames = (await runTests()) ? [] : ['the tests'];
for (const { name, output, isPassed } of await checks) {
  process.stdout.write(
    `\n== ${name}: ${isPassed ? 'passed' : 'FAILED'}\n${isPassed ? '' : output}`,
  );
  if (!isPassed) failedNames.push(name);
}
if (failedNames.length > 0) process.stdout.write(`\nFAILED: ${failedNames.join(', ')}\n`);
process.exitCode = failedNames.length === 0 ? 0 : 1;

async function runChecks() {
  const results = [];
  for (const name of CHECKS) {
    const child = startNpmScript(name, ['ignore', 'pipe', 'pipe']);
    if (child.pid !== undefined) setPriority(child.pid, CHECKS_PRIORITY);
    const [out, err, isPassed] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      waitForSuccess(child),
    ]);
    results.push({ name, output: `${out}${err}`, isPassed });
  }
  return results;
}

function runTests() {
  return waitForSuccess(startNpmScript('test:run', 'inherit'));
}

function startNpmScript(script, stdio) {
  return spawn(`npm run --silent ${script}`, { shell: true, stdio });
}

/** Resolves with true if the process ends with 0. */
function waitForSuccess(child) {
  return new Promise(resolve => {
    child.on('error', () => resolve(false));
    child.on('close', code => resolve(code === 0));
  });
}
