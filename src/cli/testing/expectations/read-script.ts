import path from 'node:path';
import type { YamlValue } from '../../../files/formats/yaml.ts';
import { findNodeOnlyName, hasImports, needsNode } from '../../../processes/node-only.ts';
import { findJavaScriptFault } from '../../checks/javascript-body.ts';
import type { JavaScript } from '../../checks/load-javascript.ts';
import type { Context } from '../../context.ts';
import { checkNamedFile, type NamingFolder } from '../../inputs/named-file.ts';
import { readTextFile } from '../../inputs/read-text.ts';
import { requireText, testFileError, withValuePlace } from '../cases/test-values.ts';

/**
 * Reads code: an expression, lines that return, or the name of a file that exports a function.
 *
 * @throws {CliError} USAGE_ERROR with file and line if the code is invalid or is a file with
 * imports
 */
export async function readScript(
  value: YamlValue,
  key: string,
  ctx: Context & NamingFolder,
  { isAsPromptfoo = false }: { readonly isAsPromptfoo?: boolean | undefined },
): Promise<JavaScript> {
  const scriptText = requireText(value, key);
  if (scriptText.startsWith('file://')) {
    return readScriptFile(value, scriptText, key, ctx, { isAsPromptfoo });
  }

  // Reported before the answer is paid for. promptfoo reports it with the case.
  const fault = isAsPromptfoo ? undefined : findJavaScriptFault(scriptText);
  if (fault !== undefined) throw testFileError(value, `${key}: ${fault}`);
  return { code: scriptText, isFile: false };
}

async function readScriptFile(
  value: YamlValue,
  scriptText: string,
  key: string,
  ctx: Context & NamingFolder,
  { isAsPromptfoo }: { readonly isAsPromptfoo: boolean },
): Promise<JavaScript> {
  const [, name = '', exported] =
    /^file:\/\/(.+?\.[cm]?[jt]s)(?::(\w+))?$/iu.exec(scriptText) ?? [];
  if (name === '') {
    throw testFileError(
      value,
      `${key}: ${scriptText} is not a JavaScript file, such as file://check.js`,
    );
  }
  try {
    checkNamedFile(ctx, name);
    const file = path.resolve(ctx.cwd, name);
    const code = await readTextFile(file, ctx.cwd, key);
    const script = { code, isFile: true, ...(exported !== undefined && { exported }) };
    const isTypeScript = /ts$/iu.test(name);
    const needsProcess = isTypeScript || (isAsPromptfoo ? needsNode(code) : hasImports(code));
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
