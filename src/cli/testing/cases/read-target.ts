import { existsSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import type { YamlEntries, YamlValue } from '../../../files/formats/yaml.ts';
import { isOnOtherComputer } from '../../../files/named-file.ts';
import type { Context } from '../../context.ts';
import type { CliError } from '../../core/errors.ts';
import { REVISION_MARK } from '../../targets/prompt-file.ts';
import type { TestFileOptions } from './reading-context.ts';
import { requireText, testFileError } from './test-values.ts';

/**
 * The endings of prompt files, in order of precedence: promptrun's own before those of other tools.
 */
const PROMPT_ENDINGS = ['.prompt', '.prompt.yml', '.prompt.yaml', '.yaml', '.yml', '.md', '.txt'];

/** Returns the path of a prompt file, or else a name for a service or an alias to resolve. */
export function readTarget(
  ctx: Context & Pick<TestFileOptions, 'mayTarget'>,
  root: YamlValue,
  fields: YamlEntries,
  file: string,
): string {
  const targetValue = fields.get('target')?.value;
  const place = targetValue ?? root;
  const candidates = targetValue
    ? [requireText(targetValue, 'target')]
    : listPromptsOfTestFile(file);
  const [target = ''] = candidates;

  // Resolving the target refuses a revision later.
  if (ctx.settings.aliases.has(target) || target.includes(REVISION_MARK)) return target;

  if (isOnOtherComputer(target)) {
    throw testFileError(place, `the target ${target} is on another computer, or a device`);
  }

  if (!isTargetPath(target)) return target;

  const promptFile = candidates
    .map(candidate => path.resolve(path.dirname(file), candidate))
    .find(candidate => existsSync(candidate));
  if (promptFile === undefined) {
    throw missingPromptFileError(place, target, { isNamed: targetValue !== undefined });
  }

  if (!statSync(promptFile).isFile()) {
    throw testFileError(place, `the prompt file ${promptFile} is not a regular file`);
  }

  if (!ctx.mayTarget(file, promptFile)) throw outsidePromptFileError(place, target);

  const note =
    explainBackslashes(target) ??
    (targetValue && explainCaseMismatch(target, realpathSync.native(promptFile)));
  if (note !== undefined) ctx.io.note(`note: ${root.file}:${targetValue?.line}: ${note}`);
  return promptFile;
}

/** Returns the names that the prompt of a test file may have next to it. */
function listPromptsOfTestFile(file: string): string[] {
  const stem = `./${path.basename(file).replace(/\.test\.ya?ml$/u, '')}`;
  return PROMPT_ENDINGS.map(ending => stem + ending);
}

/** Returns true for a path; slugs and ids have no slash or dot, except after an @. */
function isTargetPath(target: string): boolean {
  return /[/\\]|^[^@]*\./u.test(target) || PROMPT_ENDINGS.some(ending => target.endsWith(ending));
}

function missingPromptFileError(
  place: YamlValue,
  target: string,
  { isNamed }: { readonly isNamed: boolean },
): CliError {
  const message = `the prompt file ${target} does not exist`;
  if (target.includes('\\')) {
    const hint = 'Write the path with /: a backslash in it works on Windows only.';
    return testFileError(place, message, hint);
  }

  const hint = isNamed
    ? 'target names what to test: a prompt file, a slug, a version id or an alias.'
    : 'Rename the test file with its prompt, or name what it tests with target: <prompt file, slug, version id or alias>';
  return testFileError(place, message, hint);
}

function outsidePromptFileError(place: YamlValue, target: string): CliError {
  return testFileError(
    place,
    `the prompt file ${target} lies outside the working directory, the folder of the tests and their repository`,
    'If you trust the test file, name it on the command line, or add --allow-outside.',
  );
}

/** Returns a note if other systems can't find the target; undefined otherwise. */
export function explainBackslashes(
  target: string,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  if (platform !== 'win32' || !target.includes('\\')) return undefined;
  return `the target ${target} works on Windows only; write ${target.replaceAll('\\', '/')}`;
}

/**
 * Returns a note if a target is found only because the file system ignores the case of letters;
 * undefined otherwise.
 */
export function explainCaseMismatch(
  target: string,
  realPath: string,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  // On Linux, only a link could lead from one to the other.
  if (platform === 'linux') return undefined;

  const segments = target.normalize('NFC').split(/[\\/]/u);
  const names = segments.slice(segments.findLastIndex(name => name === '.' || name === '..') + 1);
  const typedPath = names.join('/');
  const realNames = realPath.normalize('NFC').split(/[\\/]/u).slice(-names.length);
  const actualPath = realNames.join('/');
  const isOtherCase =
    actualPath !== typedPath && actualPath.toLowerCase() === typedPath.toLowerCase();
  if (!isOtherCase) return undefined;

  return `the target ${target} is ${actualPath} on disk, and is not found where the case of letters counts`;
}
