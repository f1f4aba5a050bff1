import { nodeLoader } from '../../../processes/node-loader.ts';
import type { JavaScript } from '../../checks/load-javascript.ts';

/**
 * Returns the command that lets Node check an answer with a script. It exits with 1 if the answer does not pass, and with 2
 * if the check fails.
 *
 * @param about JSON of the output, its context and how to read the script's result
 */
export function nodeArgv(
  { file, exported = '', code }: JavaScript,
  about: string,
): readonly [string, ...string[]] {
  return file === undefined
    ? ['node', '-e', CODE_CHECK, code, about]
    : ['node', '-e', fileCheck(), file, exported, about];
}

/** Code that defines `endWithVerdict`, which ends the process with the verdict of a function. */
const VERDICT = `
const { output, context, threshold, isAsPromptfoo } = JSON.parse(text);
const { writeSync } = require('node:fs');
const end = (code, why) => {
  writeSync(1, why);
  self.exit(code);
};
globalThis.console = { ...console, log: (...all) => writeSync(2, all.join(' ') + '\\n') };
const endWithVerdict = async check => {
  const result = await check(output, context, self);
  if (typeof result === 'boolean') return end(result ? 0 : 1, result ? '' : 'returns false');
  if (typeof result === 'number') {
    return end((threshold === undefined ? result > 0 : result >= threshold) ? 0 : 1, 'returns ' + result);
  }
  const { pass, score, reason } = result ?? {};
  const isWhole = !isAsPromptfoo || (typeof score === 'number' && typeof reason === 'string');
  if (typeof pass === 'boolean' && isWhole) {
    const isEnough = isAsPromptfoo || threshold === undefined || score === undefined || score >= threshold;
    return end(pass && isEnough ? 0 : 1, String(reason ?? (pass ? 'returns ' + score : 'returns false')));
  }
  end(2, 'it must return true or false, a score, or {pass, score, reason}');
};`;

const fileCheck = (): string =>
  `
const self = require('node:process');
const [file, name, text] = self.argv.slice(1);${nodeLoader()}${VERDICT}
(async () => {
  const loaded = await load(file);
  const all = loaded.default?.default ?? loaded.default ?? loaded;
  await endWithVerdict(name === '' ? all : (loaded[name] ?? all[name]));
})().catch(error => end(2, String(error?.message ?? error)));`.trim();

/** Runs an expression or a function body. As in promptfoo, it sees `process.mainModule.require`. */
const CODE_CHECK = `
const self = require('node:process');
const [code, text] = self.argv.slice(1);${VERDICT}
self.mainModule = { require, exports: {} };
for (const name of ['require', 'module', 'exports', '__filename', '__dirname']) delete globalThis[name];
(async () => {
  const line = code.trim();
  const declares = !code.includes('\\n') && /^(?:const|let|var)\\s/.test(line);
  const body = code.includes('\\n') ? code : declares ? 'return eval(' + JSON.stringify(line) + ')' : 'return ' + line;
  await endWithVerdict(new Function('output', 'context', 'process', body));
})().catch(error => end(2, String(error?.message ?? error)));`.trim();
