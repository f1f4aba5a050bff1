import path from 'node:path';
import { isJsonList, type JsonValue, ownValue } from '../../../files/json.ts';
import { NODE_LOAD } from '../../../files/node-load.ts';
import type { YamlValue } from '../../../files/yaml.ts';
import { isJsonObject } from '../../../wire/bounded-json.ts';
import type { Context } from '../../context.ts';
import type { NamingFolder } from '../../inputs/named-file.ts';
import { checkNamedFile } from '../../inputs/named-file.ts';
import { readTextFile } from '../../inputs/read-text.ts';
import type { JavaScript, JavaScriptResult } from '../../outputs/checks/javascript.ts';
import { atValue, faultIn, textIn } from '../cases/test-values.ts';
import { BrokenCheck, type CheckedAnswer, type Unmet } from './expectation.ts';
import { expectationKind, quotedExcerpt, TEXT } from './kind.ts';

/** Code that scores an answer. */
interface Scoring {
  readonly script: JavaScript;
  /** The source text in the test file. */
  readonly written: string;
  /** The lowest score that passes; by default any score above 0. */
  readonly threshold: number | undefined;
  /** True to treat results as promptfoo does: they need all of {pass, score, reason}, and only `pass` counts. */
  readonly isAsPromptfoo: boolean;
}

/** Code that accepts an answer with true, a score, or `{pass, score, reason}`. */
export const javascript = expectationKind<Scoring>({
  schema: {
    ...TEXT,
    description: 'JavaScript that gives true, a score, or {pass, score, reason}; it sees output and context',
  },
  read: async (value, { ctx, key, threshold, config, isAsPromptfoo = false }) => ({
    script: { ...(await readScript(value, key, ctx)), ...(config !== undefined && { config }) },
    written: textIn(value, key),
    threshold,
    isAsPromptfoo,
  }),
  text: ({ written }) => quotedExcerpt(written.trim().replace(/\s+/gu, ' ')),
  unmet: async (scoring, answer) => {
    if (scoring.script.file !== undefined) return await unmetByNode(scoring, scoring.script.file, answer);
    const result = await answer.javascript(scoring.script, answer.value);
    const fault = resultFault(result, scoring);
    return fault === undefined ? undefined : { message: fault, actual: answer.text };
  },
  held: ({ script }) => ({ ...(script.file !== undefined && { isProgram: true }) }),
});

/** Runs a file with imports in Node, which exits with 1 if the answer does not pass and with 2 if the check fails. */
async function unmetByNode(
  { script, written, threshold, isAsPromptfoo }: Scoring,
  file: string,
  answer: CheckedAnswer,
): Promise<Unmet | undefined> {
  const context = {
    ...(await answer.context(true)),
    ...(script.config !== undefined && { config: script.config }),
  };
  const about = JSON.stringify({ output: answer.value, context, isAsPromptfoo, threshold });
  const argv = ['node', '-e', NODE_CHECK, file, script.exported ?? '', about] as const;
  const failure = await answer.command(argv, answer.text);
  if (failure === undefined) return undefined;
  const message = `${quotedExcerpt(written)}: ${failure.printed.trim() || failure.end}`;
  if (failure.end === 'ended with 1') return { message, actual: answer.text };
  throw new BrokenCheck(message);
}

const NODE_CHECK = `
const self = require('node:process');
const [file, name, text] = self.argv.slice(1);${NODE_LOAD}
const { output, context, threshold, isAsPromptfoo } = JSON.parse(text);
const { writeSync } = require('node:fs');
const end = (code, why) => {
  writeSync(1, why);
  self.exit(code);
};
globalThis.console = { ...console, log: (...all) => writeSync(2, all.join(' ') + '\\n') };
(async () => {
  const loaded = await load(file);
  const all = loaded.default?.default ?? loaded.default ?? loaded;
  const check = name === '' ? all : (loaded[name] ?? all[name]);
  const result = await check(output, context);
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
  if (!pass) return `${code}: ${typeof reason === 'string' && reason !== '' ? reason : 'gives false'}`;
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
): Promise<JavaScript> {
  const written = textIn(value, key);
  if (!written.startsWith('file://')) return { code: written, isFile: false };
  const [, name = '', exported] = /^file:\/\/(.+?\.[cm]?[jt]s)(?::(\w+))?$/iu.exec(written) ?? [];
  if (name === '')
    throw faultIn(value, `${key}: ${written} is not a JavaScript file, such as file://check.js`);
  try {
    checkNamedFile(ctx, name);
    const code = await readTextFile(path.resolve(ctx.cwd, name), ctx.cwd, key);
    const named = exported !== undefined && { exported };
    if (!IMPORTS.test(code) && !/ts$/iu.test(name)) return { code, isFile: true, ...named };
    if (key !== 'transform') return { code, isFile: true, ...named, file: path.resolve(ctx.cwd, name) };
    const what = /ts$/iu.test(name)
      ? 'is TypeScript, which only a check may be'
      : 'imports something, which only a check may do';
    throw faultIn(value, `${key}: ${name} ${what}`);
  } catch (error) {
    throw atValue(value, error, text => `${key}: ${text}`);
  }
}

const IMPORTS = /\brequire[ \t]*\(|^[ \t]*import\b/mu;

/** Returns the transformed answer, or the reason that the transform failed. */
export async function transformed(
  answer: CheckedAnswer,
  script: JavaScript,
): Promise<{ readonly answer: CheckedAnswer } | { readonly unmet: Unmet }> {
  const result = await answer.javascript(script, answer.value);
  if ('fault' in result || result.value === undefined) {
    const why = 'fault' in result ? result.fault : 'it gives nothing';
    return {
      unmet: { message: `transform ${quotedExcerpt(script.code.trim())}: ${why}`, actual: answer.text },
    };
  }
  const { value } = result;
  return { answer: { ...answer, value, text: valueText(value, answer.isAsPromptfoo) } };
}

/** Returns the text of a value for expectations other than code. */
export function valueText(value: JsonValue, isCompact = false): string {
  if (typeof value === 'string') return value;
  return JSON.stringify(value, undefined, isDeep(value) && !isCompact ? 2 : 0);
}

function isDeep(value: JsonValue): boolean {
  return isJsonList(value) || isJsonObject(value);
}
