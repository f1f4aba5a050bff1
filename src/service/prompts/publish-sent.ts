import { BOUNDS } from '../../prompts/bounds.ts';
import { type Finding, InvalidPromptFileError } from '../../prompts/findings.ts';
import { PROMPT_FILE_EXTENSION } from '../../prompts/slug.ts';
import { readDefinition } from '../../prompts/tasks/read-prompt.ts';
import { LimitExceededError } from '../../utils/limit-exceeded.ts';
import { invalidRequest, Refusal } from '../core/refusal.ts';
import { type PublishContext, type PublishedVersion, publishPrompt } from './publish.ts';

export interface SentPrompt {
  readonly slug: string;
  readonly file: string;
  readonly partials: Readonly<Record<string, string>>;
}

/**
 * Publishes a prompt from a request, with the partials in it; reads no files.
 *
 * @throws {Refusal} with every fault, each with its place
 */
export async function publishSentPrompt(
  context: PublishContext,
  { slug, file, partials }: SentPrompt,
): Promise<PublishedVersion> {
  const fileName = `${slug}${PROMPT_FILE_EXTENSION}`;
  const largePartial = Object.entries(partials).find(
    ([, text]) => Buffer.byteLength(text) > BOUNDS.fileBytes,
  );
  if (largePartial) {
    throw invalidRequest(
      `the partial ${largePartial[0]} is larger than ${BOUNDS.fileBytes / 1024} KiB`,
    );
  }

  try {
    const definition = await readDefinition(file, fileName, { partials, tasks: context.tasks });
    const { promptId, promptVersionId, title, changed } = await publishPrompt(
      context,
      definition,
      fileName,
    );
    return { slug, promptId, promptVersionId, title, changed };
  } catch (error) {
    if (error instanceof InvalidPromptFileError) throw invalidFileRefusal(error, fileName);
    if (error instanceof LimitExceededError) throw invalidRequest(error.message);
    throw error;
  }
}

function invalidFileRefusal(
  { message, line, problem, findings }: InvalidPromptFileError,
  name: string,
): Refusal {
  const faults = findings
    .filter(({ severity }) => severity === 'fault')
    .map(fault => toFaultView(fault, name));
  const wholeFileFault = { line, column: 1, message: problem };
  const data = { faults: faults.length > 0 ? faults : [wholeFileFault] };
  return new Refusal('INVALID_REQUEST', message, { data });
}

function toFaultView({ file, line, column, message }: Finding, name: string): object {
  const partial =
    file === name
      ? {}
      : { partial: file.replace(/^_/, '').slice(0, -PROMPT_FILE_EXTENSION.length) };
  return { ...partial, line, column, message };
}
