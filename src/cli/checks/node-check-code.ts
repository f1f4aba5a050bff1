import { ANSWER_LINES_CODE, RESERVE_STDOUT_CODE } from '../../processes/answer-lines.ts';
import { buildNodeLoader } from '../../processes/node-loader.ts';
import type { JavaScript } from './load-javascript.ts';

/**
 * Returns the command that lets Node check answers with a script. Each line of its input is a
 * question, and each line of its output a NodeVerdict. Code that is not in a file is part of each
 * question, so one command checks all of it.
 */
export function buildNodeArgv({
  file,
  exportName = '',
}: JavaScript): readonly [string, ...string[]] {
  return file === undefined
    ? ['node', '-e', CODE_CHECK]
    : ['node', '-e', buildFileCheck(), file, exportName];
}

/**
 * Code that defines `answerVerdicts`, which answers each question with the verdict of the function
 * that `findCheck` returns.
 */
const VERDICTS = `${RESERVE_STDOUT_CODE}${ANSWER_LINES_CODE}
const readVerdict = (result, { threshold, isAsPromptfoo }) => {
  if (typeof result === 'boolean') return { passes: result, reason: 'returns false' };
  if (typeof result === 'number') {
    return { passes: threshold === undefined ? result > 0 : result >= threshold, reason: 'returns ' + result };
  }
  const { pass, score, reason } = result ?? {};
  const hasAllFields = !isAsPromptfoo || (typeof score === 'number' && typeof reason === 'string');
  if (typeof pass !== 'boolean' || !hasAllFields) {
    return { fault: 'it must return true or false, a score, or {pass, score, reason}' };
  }
  const isAboveThreshold = isAsPromptfoo || threshold === undefined || score === undefined || score >= threshold;
  return { passes: pass && isAboveThreshold, reason: String(reason ?? (pass ? 'returns ' + score : 'returns false')) };
};
const answerVerdicts = findCheck => answerLines(async question => {
  try {
    const check = await findCheck(question.code);
    return JSON.stringify(readVerdict(await check(question.output, question.context, self), question));
  } catch (error) {
    return JSON.stringify({ fault: String(error?.message ?? error) });
  }
});`;

const buildFileCheck = (): string =>
  `
const self = require('node:process');
const [file, name] = self.argv.slice(1);${buildNodeLoader()}${VERDICTS}
answerVerdicts(async () => {
  const loaded = await load(file);
  const exported = loaded.default?.default ?? loaded.default ?? loaded;
  return name === '' ? exported : (loaded[name] ?? exported[name]);
});`.trim();

/** Runs an expression or a function body. As in promptfoo, it sees `process.mainModule.require`. */
const CODE_CHECK = `
const self = require('node:process');${VERDICTS}
self.mainModule = { require, exports: {} };
for (const name of ['require', 'module', 'exports', '__filename', '__dirname']) delete globalThis[name];
answerVerdicts(code => {
  const line = code.trim();
  const isDeclaration = !code.includes('\\n') && /^(?:const|let|var)\\s/.test(line);
  const body = code.includes('\\n') ? code : isDeclaration ? 'return eval(' + JSON.stringify(line) + ')' : 'return ' + line;
  return new Function('output', 'context', 'process', body);
});`.trim();
