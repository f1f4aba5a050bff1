import path from 'node:path';
import { isJsonList, type JsonValue, ownValue } from '../../../files/json.ts';
import { importsSomething, needsNode, nodeLoad, usedOfNode } from '../../../files/node-load.ts';
import type { YamlValue } from '../../../files/yaml.ts';
import { isJsonObject } from '../../../wire/bounded-json.ts';
import type { JavaScript, JavaScriptResult } from '../../checks/javascript.ts';
import { syntaxFault } from '../../checks/javascript-body.ts';
import type { Context } from '../../context.ts';
import type { NamingFolder } from '../../inputs/named-file.ts';
import { checkNamedFile } from '../../inputs/named-file.ts';
import { readTextFile } from '../../inputs/read-text.ts';
import { atValue, faultIn, textIn } from '../cases/test-values.ts';
import { BrokenCheck, type CheckedAnswer, type Unmet } from './expectation.ts';
import { expectationKind, quotedExcerpt, TEXT_SCHEMA } from './expectation-kind.ts';

/** Code that scores an answer. */
interface Scoring {
  readonly script: JavaScript;
  /** The source text in the test file. */
  readonly written: string;
  /** The lowest score that passes; by default any score above 0. */
  readonly threshold: number | undefined;
  /** True to treat results as promptfoo does: they need all of {pass, score, reason}, and only `pass` counts. */
  readonly isAsPromptfoo: boolean;
  /** True for code of a configuration of promptfoo that uses what only Node has. */
  readonly isForNode: boolean;
}

/** Code that accepts an answer with true, a score, or `{pass, score, reason}`. */
export const javascript = expectationKind<Scoring>({
  schema: {
    ...TEXT_SCHEMA,
    description: 'JavaScript that gives true, a score, or {pass, score, reason}; it sees output and context',
  },
  read: async (value, { ctx, key, threshold, config, isAsPromptfoo = false }) => ({
    script: {
      ...(await readScript(value, key, ctx, isAsPromptfoo)),
      ...(config !== undefined && { config }),
    },
    written: textIn(value, key),
    threshold,
    isAsPromptfoo,
    isForNode: isAsPromptfoo && !isFileName(value) && usedOfNode(textIn(value, key)) !== undefined,
  }),
  text: ({ written }) => quotedExcerpt(written.trim().replace(/\s+/gu, ' ')),
  unmet: async (scoring, answer) => {
    if (startsNode(scoring)) return await unmetByNode(scoring, answer);
    const result = await answer.javascript(scoring.script, answer.value);
    const fault = resultFault(result, scoring);
    return fault === undefined ? undefined : { message: fault, actual: answer.text };
  },
  derived: scoring => ({ ...(startsNode(scoring) && { isProgram: true }) }),
});

function startsNode({ script, isForNode }: Scoring): boolean {
  return script.file !== undefined || isForNode;
}

function isFileName(value: YamlValue): boolean {
  return value.scalar?.startsWith('file://') === true;
}

/** Runs code in Node, which exits with 1 if the answer does not pass and with 2 if the check fails. */
async function unmetByNode(
  { script, written, threshold, isAsPromptfoo }: Scoring,
  answer: CheckedAnswer,
): Promise<Unmet | undefined> {
  const context = {
    ...(await answer.context({ wantsPrompt: true })),
    ...(script.config !== undefined && { config: script.config }),
  };
  const about = JSON.stringify({ output: answer.value, context, isAsPromptfoo, threshold });
  const { file, exported = '', code } = script;
  const argv =
    file === undefined
      ? (['node', '-e', NODE_CODE, code, about] as const)
      : (['node', '-e', nodeCheck(), file, exported, about] as const);
  const failure = await answer.command(argv, answer.text);
  if (failure === undefined) return undefined;
  const message = `${quotedExcerpt(written)}: ${failure.printed.trim() || failure.end}`;
  if (failure.end === 'ended with 1') return { message, actual: answer.text };
  throw new BrokenCheck(message);
}

/** Code for `node -e` that ends with the verdict of a function, called `verdictOf`. */
const NODE_VERDICT = `
const { output, context, threshold, isAsPromptfoo } = JSON.parse(text);
const { writeSync } = require('node:fs');
const end = (code, why) => {
  writeSync(1, why);
  self.exit(code);
};
globalThis.console = { ...console, log: (...all) => writeSync(2, all.join(' ') + '\\n') };
const verdictOf = async check => {
  const result = await check(output, context, self);
  if (typeof result === 'boolean') return end(result ? 0 : 1, result ? '' : 'gives false');
  if (typeof result === 'number') {
    return end((threshold === undefined ? result > 0 : result >= threshold) ? 0 : 1, 'gives ' + result);
  }
  const { pass, score, reason } = result ?? {};
  const isWhole = !isAsPromptfoo || (typeof score === 'number' && typeof reason === 'string');
  if (typeof pass === 'boolean' && isWhole) {
    const isEnough = isAsPromptfoo || threshold === undefined || score === undefined || score >= threshold;
    return end(pass && isEnough ? 0 : 1, String(reason ?? (pass ? 'gives ' + score : 'gives false')));
  }
  end(2, 'it must give true or false, a score, or {pass, score, reason}');
};`;

const nodeCheck = (): string =>
  `
const self = require('node:process');
const [file, name, text] = self.argv.slice(1);${nodeLoad()}${NODE_VERDICT}
(async () => {
  const loaded = await load(file);
  const all = loaded.default?.default ?? loaded.default ?? loaded;
  await verdictOf(name === '' ? all : (loaded[name] ?? all[name]));
})().catch(error => end(2, String(error?.message ?? error)));`.trim();

/** Runs an expression or the body of a function, which promptfoo gives `process.mainModule.require`. */
const NODE_CODE = `
const self = require('node:process');
const [code, text] = self.argv.slice(1);${NODE_VERDICT}
self.mainModule = { require, exports: {} };
for (const name of ['require', 'module', 'exports', '__filename', '__dirname']) delete globalThis[name];
(async () => {
  const line = code.trim();
  const declares = !code.includes('\\n') && /^(?:const|let|var)\\s/.test(line);
  const body = code.includes('\\n') ? code : declares ? 'return eval(' + JSON.stringify(line) + ')' : 'return ' + line;
  await verdictOf(new Function('output', 'context', 'process', body));
})().catch(error => end(2, String(error?.message ?? error)));`.trim();

function resultFault(
  result: JavaScriptResult,
  { written, threshold, isAsPromptfoo }: Scoring,
): string | undefined {
  const code = quotedExcerpt(written.trim().replace(/\s+/gu, ' '));
  if ('fault' in result) throw new BrokenCheck(`${code}: ${result.fault}`);
  const { value } = result;
  if (typeof value === 'boolean') return value ? undefined : `${code} gives false`;
  if (typeof value === 'number') return scoreFault(value, threshold, code);
  const [pass, score, reason] = ['pass', 'score', 'reason'].map(key => ownValue(value ?? null, key));
  const isWhole = !isAsPromptfoo || (typeof score === 'number' && typeof reason === 'string');
  if (typeof pass !== 'boolean' || !isWhole) {
    const shown = value === undefined ? 'nothing' : quotedExcerpt(JSON.stringify(value));
    throw new BrokenCheck(
      `${code} gives ${shown}: it must give true or false, a score, or {pass, score, reason}`,
    );
  }
  if (!pass) {
    if (typeof reason !== 'string' || reason === '') return `${code}: gives false`;
    return isAsPromptfoo ? reason : `${code}: ${reason}`;
  }
  const hasScore = threshold !== undefined && typeof score === 'number' && !isAsPromptfoo;
  return hasScore ? scoreFault(score, threshold, code) : undefined;
}

function scoreFault(score: number, threshold: number | undefined, code: string): string | undefined {
  if (threshold !== undefined) {
    return score >= threshold ? undefined : `${code} gives ${score}, less than ${threshold}`;
  }
  return score > 0 ? undefined : `${code} gives ${score}, which is not above 0`;
}

/**
 * Reads code: an expression, lines that return, or the name of a file that exports a function.
 *
 * @throws {CliError} USAGE_ERROR with file and line if the code is invalid or is a file with imports
 */
export async function readScript(
  value: YamlValue,
  key: string,
  ctx: Context & NamingFolder,
  isAsPromptfoo = false,
): Promise<JavaScript> {
  const written = textIn(value, key);
  if (!written.startsWith('file://')) {
    // Found now, because the answer would be paid for first. promptfoo reports it with the case.
    const fault = isAsPromptfoo ? undefined : syntaxFault(written);
    if (fault !== undefined) throw faultIn(value, `${key}: ${fault}`);
    return { code: written, isFile: false };
  }
  const [, name = '', exported] = /^file:\/\/(.+?\.[cm]?[jt]s)(?::(\w+))?$/iu.exec(written) ?? [];
  if (name === '')
    throw faultIn(value, `${key}: ${written} is not a JavaScript file, such as file://check.js`);
  try {
    checkNamedFile(ctx, name);
    const code = await readTextFile(path.resolve(ctx.cwd, name), ctx.cwd, key);
    const named = exported !== undefined && { exported };
    const isForNode = isAsPromptfoo ? needsNode(code) : importsSomething(code);
    if (!isForNode && !/ts$/iu.test(name)) return { code, isFile: true, ...named };
    if (key !== 'transform') return { code, isFile: true, ...named, file: path.resolve(ctx.cwd, name) };
    const used = importsSomething(code) ? 'imports something' : `uses ${usedOfNode(code)} of Node`;
    const what = /ts$/iu.test(name)
      ? 'is TypeScript, which only a check may be'
      : `${used}, which only a check may do`;
    throw faultIn(value, `${key}: ${name} ${what}`);
  } catch (error) {
    throw atValue(value, error, text => `${key}: ${text}`);
  }
}

/** Returns the transformed answer, or the reason that the transform failed. */
export async function transformed(
  answer: CheckedAnswer,
  script: JavaScript,
): Promise<{ readonly answer: CheckedAnswer } | { readonly unmet: Unmet }> {
  const result = await answer.javascript(script, answer.value);
  const value = 'fault' in result ? undefined : result.value;
  // promptfoo takes null for no value.
  if (value === undefined || (answer.isAsPromptfoo && value === null)) {
    const why = 'fault' in result ? result.fault : 'it gives nothing';
    return {
      unmet: { message: `transform ${quotedExcerpt(script.code.trim())}: ${why}`, actual: answer.text },
    };
  }
  return { answer: { ...answer, value, text: valueText(value, answer) } };
}

/** Returns the text of a value for expectations other than code. promptfoo writes JSON on one line. */
export function valueText(value: JsonValue, { isAsPromptfoo }: Pick<CheckedAnswer, 'isAsPromptfoo'>): string {
  if (typeof value === 'string') return value;
  return JSON.stringify(value, undefined, isDeep(value) && !isAsPromptfoo ? 2 : 0);
}

function isDeep(value: JsonValue): boolean {
  return isJsonList(value) || isJsonObject(value);
}
