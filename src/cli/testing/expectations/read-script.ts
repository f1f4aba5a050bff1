import path from 'node:path';
import type { YamlValue } from '../../../files/formats/yaml.ts';
import { findNodeOnlyName, hasImports, needsNode } from '../../../processes/node-only.ts';
import { findJavaScriptFault } from '../../checks/javascript-body.ts';
import type { JavaScript } from '../../checks/load-javascript.ts';
import type { Context } from '../../context.ts';
import { checkNamedFile, type NamingFolder } from '../../inputs/named-file.ts';
import { readTextFile } from '../../inputs/read-text.ts';
import { requireText, testFileError, withValuePlace } from '../cases/test-values.ts';

/** The folder of the file that names code, and whose code it is. */
interface ScriptContext extends Context, NamingFolder {
  /** True for code of a promptfoo configuration; default false. */
  readonly isAsPromptfoo?: boolean | undefined;
}

/** Matches `file://check.js`, or `file://check.js:name` for one of its exports. */
const SCRIPT_REFERENCE = /^file:\/\/(?<name>.+?\.[cm]?[jt]s)(?::(?<exportName>\w+))?$/iu;

/**
 * Reads code: an expression, lines that return, or the name of a file that exports a function.
 *
 * @throws {CliError} USAGE_ERROR with file and line if the code is invalid or is a file with
 * imports
 */
export async function readScript(
  value: YamlValue,
  key: string,
  ctx: ScriptContext,
): Promise<JavaScript> {
  const scriptText = requireText(value, key);
  if (scriptText.startsWith('file://')) return await readScriptFile(value, key, ctx);

  // Reported before the answer is paid for. promptfoo reports it with the case.
  const fault = ctx.isAsPromptfoo ? undefined : findJavaScriptFault(scriptText);
  if (fault !== undefined) throw testFileError(value, `${key}: ${fault}`);
  return { code: scriptText, isFile: false };
}

async function readScriptFile(
  value: YamlValue,
  key: string,
  ctx: ScriptContext,
): Promise<JavaScript> {
  const scriptText = requireText(value, key);
  const { name, exportName } = SCRIPT_REFERENCE.exec(scriptText)?.groups ?? {};
  if (name === undefined) {
    throw testFileError(
      value,
      `${key}: ${scriptText} is not a JavaScript file, such as file://check.js`,
    );
  }
  try {
    checkNamedFile(ctx, name);
    const file = path.resolve(ctx.cwd, name);
    const code = await readTextFile(file, ctx.cwd, key);
    const script = { code, isFile: true, ...(exportName !== undefined && { exportName }) };
    const isTypeScript = /ts$/iu.test(name);
    const needsProcess = isTypeScript || (ctx.isAsPromptfoo ? needsNode(code) : hasImports(code));
    if (!needsProcess) return script;
    if (key !== 'transform') return { ...script, file };

    const need = hasImports(code) ? 'imports something' : `uses ${findNodeOnlyName(code)} of Node`;
    const reason = isTypeScript
      ? 'is TypeScript, which only a check may be'
      : `${need}, which only a check may do`;
    throw testFileError(value, `${key}: ${name} ${reason}`);
  } catch (error) {
    throw withValuePlace(value, error, text => `${key}: ${text}`);
  }
}
