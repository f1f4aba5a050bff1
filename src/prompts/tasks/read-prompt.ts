import type { PromptDefinition } from '../definition.ts';
import { Findings, invalid } from '../findings.ts';
import { readPromptText } from '../parse/files.ts';
import type { ParsedPrompt } from '../parse/parse.ts';
import { type PromptTasks, tasksHere } from './prompt-tasks.ts';

export interface ParseTextOptions {
  /** By name; default those beside the file. */
  readonly partials?: Readonly<Record<string, string>>;
  /** Whether partials may lie outside the folder of the file; default false. */
  readonly allowOutside?: boolean | undefined;
  /** Whether what is wrong with tests of its own is a fault; default false. */
  readonly checksTests?: boolean | undefined;
  /** How it is done; default in this process. */
  readonly tasks?: PromptTasks;
}

/** Reads one prompt file. Throws InvalidPromptFile for what is in it, and what the file system says. */
export async function readPromptFile(
  file: string,
  options?: Pick<ParseTextOptions, 'tasks' | 'allowOutside'>,
): Promise<PromptDefinition> {
  return await readDefinition(await readPromptText(file), file, options);
}

/** Reads the text of a prompt file. Throws InvalidPromptFile. */
export async function readDefinition(
  text: string,
  file: string,
  options: ParseTextOptions = {},
): Promise<PromptDefinition> {
  const { findings, definition } = await parseText(text, file, options);
  if (findings.hasFaults || !definition) throw invalid(findings);
  return definition;
}

/** As `readDefinition`, with all findings instead of an error. */
export async function parseText(
  text: string,
  file: string,
  { partials, allowOutside = false, checksTests = false, tasks = tasksHere }: ParseTextOptions = {},
): Promise<ParsedPrompt> {
  const work = { text, file, allowOutside, checksTests, ...(partials && { partials }) };
  const { findings, definition } = await tasks.do('parse', work);
  return { findings: new Findings(file, findings), definition };
}
