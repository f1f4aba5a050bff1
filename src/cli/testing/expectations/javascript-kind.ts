import path from 'node:path';
import { isJsonList, type JsonValue, ownValue } from '../../../files/json.ts';
import type { YamlValue } from '../../../files/yaml.ts';
import { isJsonObject } from '../../../wire/bounded-json.ts';
import type { Context } from '../../context.ts';
import type { NamingFolder } from '../../inputs/named-file.ts';
import { checkNamedFile } from '../../inputs/named-file.ts';
import { readTextFile } from '../../inputs/read-text.ts';
import type { JavaScript, JavaScriptResult } from '../../outputs/checks/javascript.ts';
import { faultIn, located, textIn } from '../cases/test-values.ts';
import type { Answer, Unmet } from './expectation.ts';
import { kind, quoted, TEXT } from './kind.ts';

/** Code that scores an answer. */
interface Scoring {
  readonly script: JavaScript;
  /** In the words of its file. */
  readonly written: string;
  /** The least score that passes; default anything above 0. */
  readonly threshold: number | undefined;
}

/** Code that must find an answer right: true, a score, or `{pass, score, reason}`. */
export const javascript = kind<Scoring>({
  schema: {
    ...TEXT,
    description: 'JavaScript that gives true, a score, or {pass, score, reason}; it sees output and context',
  },
  read: async (value, { ctx, key, threshold }) => ({
    script: await readScript(value, key, ctx),
    written: textIn(value, key),
    threshold,
  }),
  text: ({ written }) => quoted(written.trim().replace(/\s+/gu, ' ')),
  unmet: async (scoring, answer) => {
    const result = await answer.javascript(scoring.script, answer.value);
    const fault = resultFault(result, scoring);
    return fault === undefined ? undefined : { message: fault, actual: answer.text };
  },
});

function resultFault(result: JavaScriptResult, { written, threshold }: Scoring): string | undefined {
  const code = quoted(written.trim().replace(/\s+/gu, ' '));
  if ('fault' in result) return `${code}: ${result.fault}`;
  const { value } = result;
  if (typeof value === 'boolean') return value ? undefined : `${code} gives false`;
  if (typeof value === 'number') return scoreFault(value, threshold, code);
  const pass = value === undefined ? undefined : ownValue(value, 'pass');
  if (value === undefined || typeof pass !== 'boolean') {
    const shown = value === undefined ? 'nothing' : quoted(JSON.stringify(value));
    return `${code} gives ${shown}: it must give true or false, a score, or {pass, score, reason}`;
  }
  const [reason, score] = [ownValue(value, 'reason'), ownValue(value, 'score')];
  if (!pass) return `${code}: ${typeof reason === 'string' && reason !== '' ? reason : 'gives false'}`;
  return threshold !== undefined && typeof score === 'number'
    ? scoreFault(score, threshold, code)
    : undefined;
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
 * @throws {CliError} USAGE_ERROR with file and line, for a file that imports something too
 */
export async function readScript(
  value: YamlValue,
  key: string,
  ctx: Context & NamingFolder,
): Promise<JavaScript> {
  const written = textIn(value, key);
  if (!written.startsWith('file://')) return { code: written, isFile: false };
  const [, name = '', exported] = /^file:\/\/(.+?\.[cm]?js)(?::(\w+))?$/iu.exec(written) ?? [];
  if (name === '')
    throw faultIn(value, `${key}: ${written} is not a JavaScript file, such as file://check.js`);
  try {
    checkNamedFile(ctx, name);
    const code = await readTextFile(path.resolve(ctx.cwd, name), ctx.cwd, key);
    if (IMPORTS.test(code)) {
      throw faultIn(
        value,
        `${key}: ${name} imports something: run it by \`command\`, such as [node, ${name}]`,
      );
    }
    return { code, isFile: true, ...(exported !== undefined && { exported }) };
  } catch (error) {
    throw located(value, error, text => `${key}: ${text}`);
  }
}

const IMPORTS = /\brequire[ \t]*\(|^[ \t]*import\b/mu;

/** An answer as code has changed it, or why it couldn't. */
export async function transformed(
  answer: Answer,
  script: JavaScript,
): Promise<{ readonly answer: Answer } | { readonly unmet: Unmet }> {
  const result = await answer.javascript(script, answer.value);
  if ('fault' in result || result.value === undefined) {
    const why = 'fault' in result ? result.fault : 'it gives nothing';
    return { unmet: { message: `transform ${quoted(script.code.trim())}: ${why}`, actual: answer.text } };
  }
  const { value } = result;
  return { answer: { ...answer, value, text: answerText(value) } };
}

function answerText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, isDeep(value) ? 2 : 0);
}

function isDeep(value: JsonValue): boolean {
  return isJsonList(value) || isJsonObject(value);
}
