import { PaymentRequiredError, UnauthorizedError } from '../../client/errors.ts';
import { toTextOrEmpty } from '../../files/formats/json-fields.ts';
import {
  MAX_QUERY_LENGTH,
  type PromptSearchRow,
  type PromptVersionEntry,
} from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { formatIsoAge } from '../core/durations.ts';
import { filterChoices } from '../questions/choices.ts';
import type { Choice } from '../questions/question.ts';
import { listPromptFiles } from './list-prompt-files.ts';
import { pickOptions } from './pick-options.ts';

/** Pause in typing before the service is asked, in milliseconds. */
const TYPING_PAUSE_MS = 250;

/** Maximum number of prompts of earlier runs to offer. */
const MAX_USED_PROMPTS = 20;

/** The target and options that a person chose. */
interface PickedRun {
  /** An alias, a prompt file or a prompt version. */
  readonly target: string;
  /** The name that a person would type for the target. */
  readonly displayName: string;
  /** Run options in the form of `--option`. */
  readonly options: readonly string[];
}

/** The flags `--ask` and `--option`. */
interface PickFlags {
  readonly ask?: boolean;
  readonly option: readonly string[];
}

/**
 * Lets a person choose a prompt; with `ask` also its version, and run options if none were given.
 */
export async function pickRun(
  ctx: Context,
  connection: Connection,
  { ask: asksDetails = false, option: optionFlags }: PickFlags,
): Promise<PickedRun> {
  const prompt = await pickPrompt(ctx, connection);
  const pickedTarget = await pickTarget(ctx, connection, prompt, { asksVersion: asksDetails });
  const isFile = isNamedTarget(prompt) && prompt.isFile;
  const asksOptions = asksDetails && optionFlags.length === 0 && !isFile;
  const options = asksOptions
    ? await pickOptions(ctx, connection, isNamedTarget(prompt) ? {} : prompt)
    : optionFlags;
  return { ...pickedTarget, options };
}

async function pickTarget(
  ctx: Context,
  connection: Connection,
  prompt: PickedPrompt,
  options: VersionOptions,
): Promise<Pick<PickedRun, 'target' | 'displayName'>> {
  if (isNamedTarget(prompt)) return { target: prompt.name, displayName: prompt.name };

  const { slug } = prompt;
  const { pickedId, latestId } = await pickFromVersions(ctx, connection, prompt, options);

  // On the embedded service a slug is unique and means the latest version.
  const isNamedBySlug = connection.isEmbedded && slug !== undefined && pickedId === latestId;
  return { target: pickedId, displayName: isNamedBySlug ? slug : pickedId };
}

interface VersionOptions {
  /** True to let the person choose from several versions. */
  readonly asksVersion: boolean;
}

/** Returns the latest version, or the chosen one if there are several. */
async function pickFromVersions(
  ctx: Context,
  { client }: Connection,
  { promptId, promptVersionId }: ServicePrompt,
  { asksVersion }: VersionOptions,
): Promise<{ pickedId: string; latestId: string }> {
  const { versions } = await client.versions.list(promptId, { signal: ctx.signal });
  const latestId =
    versions.find(version => version.isLatest)?.promptVersionId ?? versions[0]?.promptVersionId;
  if (latestId === undefined) return { pickedId: promptVersionId, latestId: promptVersionId };

  const mustAsk = asksVersion && versions.length > 1;
  return { pickedId: mustAsk ? await pickVersion(ctx, versions, latestId) : latestId, latestId };
}

async function pickVersion(
  ctx: Context,
  versions: readonly PromptVersionEntry[],
  latestVersionId: string,
): Promise<string> {
  const prompter = await ctx.prompter();
  return prompter.choice(
    {
      message: 'version',
      choices: versions.map(version => ({
        value: version.promptVersionId,
        name: describeVersion(ctx, version, latestVersionId),
        description: version.promptVersionId,
      })),
      default: latestVersionId,
    },
    ctx.signal,
  );
}

function describeVersion(
  ctx: Context,
  { promptVersionId, publishedAt }: PromptVersionEntry,
  latestVersionId: string,
): string {
  const age = formatIsoAge(publishedAt, ctx.clock.now());
  return promptVersionId === latestVersionId ? `the latest, published ${age}` : `published ${age}`;
}

type PickedPrompt = NamedTarget | ServicePrompt;

function isNamedTarget(prompt: PickedPrompt): prompt is NamedTarget {
  return 'name' in prompt;
}

/** An alias, or the path of a prompt file from the working directory. */
interface NamedTarget {
  readonly name: string;
  readonly isFile: boolean;
}

/** A prompt of the service. */
interface ServicePrompt {
  readonly promptId: string;
  /** The latest known version; empty if none is known. */
  readonly promptVersionId: string;
  readonly slug?: string;
  /** The modality in the search result: 0 text, 1 image; undefined if unknown. */
  readonly modality?: number;
  /** The index of its model among the service's models, from the search result. */
  readonly model?: number;
}

/**
 * Searches while the user types. Without words, offers aliases, the local prompts or those used
 * before, and prompt files.
 */
async function pickPrompt(ctx: Context, connection: Connection): Promise<PickedPrompt> {
  const prompts = await listPromptChoices(ctx, connection);
  const searchRefused = new AbortController();
  const find = async (
    words: string,
    signal: AbortSignal,
  ): Promise<readonly Choice<PickedPrompt>[]> => {
    const query = words.trim().slice(0, MAX_QUERY_LENGTH);
    if (query === '') return prompts;

    await ctx.clock.sleep(TYPING_PAUSE_MS, signal);

    try {
      const { rows } = await connection.client.prompts.search(query, { signal });
      // The service does not find aliases and prompt files.
      return [
        ...filterChoices(prompts, query).filter(({ value }) => isNamedTarget(value)),
        ...rows.map(toPromptChoice),
      ];
    } catch (error) {
      // Other search words would not help, so the question ends with this error.
      if (error instanceof UnauthorizedError || error instanceof PaymentRequiredError) {
        searchRefused.abort(error);
      }
      throw error;
    }
  };

  const prompter = await ctx.prompter();
  const description =
    prompts.length === 0 ? 'words to search for' : 'words to search for, or one of these';
  const signal = AbortSignal.any([ctx.signal, searchRefused.signal]);
  return prompter.search({ message: 'prompt', description, find }, signal);
}

/**
 * Returns the aliases, every prompt of the local service or the prompts used before on another one,
 * and prompt files.
 */
async function listPromptChoices(
  ctx: Context,
  connection: Connection,
): Promise<readonly Choice<PickedPrompt>[]> {
  const aliases = [...ctx.settings.aliases].map(([alias, target]) => ({
    value: { name: alias, isFile: false },
    name: alias,
    description: `alias of ${target}`,
  }));

  const prompts = connection.isEmbedded
    ? await listLocalPrompts(ctx, connection)
    : listUsedPrompts(connection);
  const files = (await listPromptFiles(ctx.cwd)).map(file => ({
    value: { name: file, isFile: true },
    name: file,
    description: 'a prompt file',
  }));
  return [...aliases, ...prompts, ...files];
}

async function listLocalPrompts(
  ctx: Context,
  { client }: Connection,
): Promise<Choice<ServicePrompt>[]> {
  const choices: Choice<ServicePrompt>[] = [];
  for await (const row of client.prompts.all({}, { signal: ctx.signal })) {
    choices.push(toPromptChoice(row));
  }
  return choices;
}

/** Returns the prompts whose config was read, then those that were only found by their slugs. */
function listUsedPrompts({ prompts }: Connection): Choice<ServicePrompt>[] {
  const slugs = prompts.getSlugs();
  const versionChoices = prompts
    .listVersions()
    .map(
      version =>
        [version.promptId, { value: version, name: toTextOrEmpty(version.title) }] as const,
    );

  const choices = new Map<string, Choice<ServicePrompt>>(versionChoices);
  for (const [promptId, slug] of slugs) {
    if (choices.has(promptId)) continue;
    const value = { promptId, promptVersionId: '', slug };
    choices.set(promptId, { value, name: toTextOrEmpty(slug) });
  }

  return [...choices.values()].slice(0, MAX_USED_PROMPTS);
}

function toPromptChoice(row: PromptSearchRow): Choice<ServicePrompt> {
  const title = toTextOrEmpty(row.title);
  return {
    value: row,
    name: row.slug ? `${title} (${toTextOrEmpty(row.slug)})` : title,
    description: toTextOrEmpty(row.description),
  };
}
