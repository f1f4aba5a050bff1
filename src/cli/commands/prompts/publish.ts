import { statSync } from 'node:fs';
import path from 'node:path';
import { ValidationError } from '../../../client/errors.ts';
import { toTextOrEmpty } from '../../../files/formats/json-fields.ts';
import type { InvalidPromptFileError } from '../../../prompts/findings.ts';
import type { LocalStore } from '../../../service/local-store.ts';
import type { PublishedVersion } from '../../../service/prompts/publish.ts';
import { isJsonObject } from '../../../utils/bounded-json.ts';
import { getErrorCode } from '../../../utils/error-utils.ts';
import type { Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { CliError, notFoundError, usageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-codes.ts';
import { formatPath } from '../../core/paths.ts';
import { expandWildcards } from '../../core/wildcards.ts';
import { presentList } from '../../outputs/present.ts';
import { requireLocalService, resolveAddress } from '../../settings/config/address.ts';
import { explainStoreError } from '../../targets/embedded-store.ts';
import { noteIfFenceIsMissing } from '../../targets/file-version.ts';
import { detectLocalService } from '../../targets/not-found.ts';
import { findDatabaseUrl } from '../../targets/operator-store.ts';
import { readDefinitionFile } from '../../targets/prompt-definition.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import type { PROMPTS_PUBLISH } from './spec.ts';

type PromptsPublishFlags = FlagsOf<typeof PROMPTS_PUBLISH.flags>;

type PublishRow =
  | Pick<PublishedVersion, 'slug' | 'promptVersionId' | 'title' | 'changed'>
  | UnpublishedRow;

type UnpublishedRow = { readonly slug: string; readonly unpublished: true };

/** A destination for published prompts. */
interface Publisher {
  publish(file: string): Promise<PublishRow>;
  unpublish(slug: string): Promise<UnpublishedRow>;
}

/**
 * Publishes prompt files to the local service, in its store or over HTTP, and withdraws prompts.
 */
export async function publishPrompts(
  ctx: Context,
  files: readonly string[],
  { unpublish, database }: PromptsPublishFlags,
): Promise<void> {
  if (files.length + unpublish.length === 0) {
    throw usageError('give prompt files, or --unpublish <slug>');
  }

  const paths = expandWildcards(files, ctx.cwd).map(file => requirePromptFile(ctx, file));
  const rows: PublishRow[] = [];
  const publishAll = async (publisher: Publisher): Promise<void> => {
    for (const file of paths) rows.push(await publisher.publish(file));
    for (const slug of unpublish) rows.push(await publisher.unpublish(slug));
  };

  try {
    if (resolveAddress(ctx).isEmbedded) {
      await withStorePublisher(ctx, findDatabaseUrl(ctx, database), publishAll);
    } else {
      await publishAll(await createHttpPublisher(ctx, database));
    }
  } finally {
    if (rows.length > 0) await presentPublishRows(ctx, rows);
  }
}

async function withStorePublisher(
  ctx: Context,
  databaseUrl: string | undefined,
  work: (publisher: Publisher) => Promise<void>,
): Promise<void> {
  const { dataDir, settings } = ctx;
  const defaultModel = settings.get('model');
  const onNotice = (line: string): void => noteLine(ctx, line);
  await ctx.local.withStore({ dataDir, databaseUrl, defaultModel, onNotice }, store =>
    work(createStorePublisher(ctx, store, databaseUrl)),
  );
}

function createStorePublisher(
  ctx: Context,
  store: LocalStore,
  databaseUrl: string | undefined,
): Publisher {
  return {
    async publish(file) {
      const { usesEcho, lacksFence, ...publication } = await store
        .publish(file)
        .catch((error: unknown) => {
          throw explainStoreError(ctx, error);
        });
      if (usesEcho) {
        noteLine(ctx, `no model named in ${path.basename(file)}: echo gives the prompt back`);
      }
      if (lacksFence) await noteMissingFence(ctx, file);
      return publication;
    },
    async unpublish(slug) {
      if (await store.unpublish(slug)) return { slug, unpublished: true };
      const hints =
        databaseUrl === undefined
          ? [`List the published prompts with: ${ctx.formatCommand('prompts', 'list')}`]
          : [];
      throw notFoundError(`no prompt '${slug}' is published`, ...hints);
    },
  };
}

function noteLine({ io }: Context, line: string): void {
  io.note(`note: ${toOneLine(line)}`);
}

async function noteMissingFence(ctx: Context, file: string): Promise<void> {
  const { describeMissingFence } = await import('../../../prompts/parse/prompt-source.ts');
  ctx.io.note(describeMissingFence(toOneLine(formatPath(ctx, file))));
}

/**
 * Returns a publisher over HTTP.
 *
 * @throws {CliError} exit 2 if the service is not a promptrun serve: it must not get any file
 */
async function createHttpPublisher(ctx: Context, database: string | undefined): Promise<Publisher> {
  if (database !== undefined) requireLocalService(ctx, 'prompts publish --database');
  const connection = await ctx.connection();
  const { client, baseUrl } = connection;
  const { signal } = ctx;
  if (!(await detectLocalService(connection, signal))) {
    throw usageError(
      `prompts can't be published to ${new URL(baseUrl).host} from here`,
      'Publish them on this machine with: --profile local',
    );
  }

  return {
    async publish(file) {
      try {
        const { source, partials } = await readDefinitionFile(ctx, file);
        const slug = path.basename(file, '.prompt');
        const publication = await client.prompts.publish(
          slug,
          { file: source, partials },
          { signal },
        );

        await noteIfFenceIsMissing(ctx, formatPath(ctx, file), source);
        return publication;
      } catch (error) {
        throw explainPublishError(ctx, file, error);
      }
    },
    async unpublish(slug) {
      await client.prompts.unpublish(slug, { signal });
      return { slug, unpublished: true };
    },
  };
}

function explainPublishError(ctx: Context, file: string, error: unknown): unknown {
  if (error instanceof ValidationError) return refusedFileError(error, formatPath(ctx, file));
  return getErrorCode(error) === 'INVALID_PROMPT_FILE'
    ? faultyFileError(ctx, error as InvalidPromptFileError)
    : error;
}

/** Returns the error for a file that the service refused, each fault with its place. */
function refusedFileError({ message, data, status }: ValidationError, file: string): Error {
  const faults =
    isJsonObject(data) && Array.isArray(data['faults']) ? data['faults'].filter(isJsonObject) : [];
  const lines = faults.map(fault => {
    const { line, column, partial } = fault;
    const faultyFile = typeof partial === 'string' ? `partial ${partial}` : file;
    const position = `${faultyFile}:${toTextOrEmpty(line)}:${toTextOrEmpty(column)}`;
    return toOneLine(`${position}: ${toTextOrEmpty(fault['message'])}`);
  });
  const [first = message, ...otherFaults] = lines;
  return new CliError(first, { status, exitCode: EXIT.usage, hints: otherFaults, data });
}

/** Returns the error for a faulty file that was not sent, each fault with its place. */
function faultyFileError(ctx: Context, { findings, message }: InvalidPromptFileError): Error {
  const lines = findings
    .filter(({ severity }) => severity === 'fault')
    .map(fault => `${formatPath(ctx, fault.file)}:${fault.line}:${fault.column}: ${fault.message}`);
  const [first = message, ...otherFaults] = lines;
  return usageError(first, ...otherFaults);
}

function requirePromptFile({ cwd }: Context, name: string): string {
  const file = path.resolve(cwd, name);
  if (path.extname(file) !== '.prompt') {
    throw usageError(`${name} is not a prompt file: its name must end in .prompt`);
  }

  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) throw usageError(`${name} does not exist`);
  if (!stats.isFile()) throw usageError(`${name} is not a file`);
  return file;
}

function presentPublishRows(ctx: Context, rows: readonly PublishRow[]): Promise<void> {
  return presentList(ctx, rows, {
    columns: [
      { title: 'SLUG', minWidth: 8, cell: ({ slug }) => slug },
      {
        title: 'PROMPT VERSION',
        minWidth: 8,
        cell: row => ('title' in row ? row.promptVersionId : ''),
      },
      { title: 'TITLE', minWidth: 8, dropOrder: 1, cell: row => ('title' in row ? row.title : '') },
      { title: 'STATE', cell: describePublishState },
    ],
  });
}

function describePublishState(row: PublishRow): string {
  if ('unpublished' in row) return 'unpublished';
  return row.changed ? 'published' : 'unchanged';
}
