import type { PromptDefinition } from '../definition.ts';
import { Findings, toPromptFileError } from '../findings.ts';
import type { ParsedAnyPrompt } from '../foreign/parse-any-prompt.ts';
import { readPromptText } from '../parse/read-prompt-text.ts';
import { inProcessTasks, type PromptTasks } from './prompt-tasks.ts';

export interface ParseTextOptions {
  /** The partials by name; default: those in the file's folder. */
  readonly partials?: Readonly<Record<string, string>>;
  /** True if partials may lie outside the file's folder; default false. */
  readonly allowOutside?: boolean | undefined;
  /** True to report faults of the file's own tests; default false. */
  readonly checksTests?: boolean | undefined;
  /** Runs the parsing; default: in this process. */
  readonly tasks?: PromptTasks;
}

/**
 * Reads a prompt file.
 *
 * @throws {InvalidPromptFileError} for its faults, and errors of the file system
 */
export async function readPromptFile(
  file: string,
  options?: Pick<ParseTextOptions, 'tasks' | 'allowOutside'>,
): Promise<PromptDefinition> {
  return await readDefinition(await readPromptText(file), file, options);
}

/** Has `tasks` parse the text of a prompt file. @throws {InvalidPromptFileError} if it has a fault */
export async function readDefinition(
  text: string,
  file: string,
  options: ParseTextOptions = {},
): Promise<PromptDefinition> {
  const { findings, definition } = await parsePromptText(text, file, options);
  if (findings.hasFaults || !definition) throw toPromptFileError(findings);
  return definition;
}

/** Parses like `readDefinition`, but returns all findings instead of throwing. */
export async function parsePromptText(
  text: string,
  file: string,
  {
    partials,
    allowOutside = false,
    checksTests = false,
    tasks = inProcessTasks,
  }: ParseTextOptions = {},
): Promise<ParsedAnyPrompt> {
  const work = { text, file, allowOutside, checksTests, ...(partials && { partials }) };
  const parsed = await tasks.run('parse', work);
  return { ...parsed, findings: new Findings(file, parsed.findings) };
}
