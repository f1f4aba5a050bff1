import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { PromptService } from '../../client/client.ts';
import type { Transport } from '../../client/transport.ts';
import type { EmbeddedService } from '../../service/embedded.ts';
import { toDollars } from '../../wire/money.ts';
import type { Connection, Context } from '../context.ts';
import type { FormatCommand } from '../core/failure.ts';
import type { Recorder, Recordings } from '../recordings/recorder.ts';
import { PromptCache } from '../settings/caches/prompt-cache.ts';
import {
  computeResourceScope,
  LOCAL_SCOPE,
  ResourceCache,
  type ResourceCacheOptions,
} from '../settings/caches/resource-cache.ts';
import { findConfiguredHost, resolveAddress, resolveKey } from '../settings/config/address.ts';
import { LOCAL_PROFILE } from '../settings/config/profile-name.ts';
import { createCommandFormatter } from '../terminal/command-line.ts';
import { toOneLine } from '../terminal/sanitise.ts';
import { createClient, openTransport, printDebugLine } from './create-client.ts';

/** The parts of a context that connections need. */
export interface ConnectionSources
  extends Pick<
    Context,
    | 'clock'
    | 'cwd'
    | 'dataDir'
    | 'declaredModels'
    | 'env'
    | 'formatCommand'
    | 'globals'
    | 'io'
    | 'isReplay'
    | 'local'
    | 'modelsFile'
    | 'settings'
    | 'signal'
    | 'timeLeftMs'
    | 'version'
  > {
  readonly recordings: Recordings;
}

export interface OpenConnection {
  readonly connection: Connection;
  /** @param stopCause the cause that ends an unfinished command */
  close(stopCause?: string): Promise<void>;
}

interface ServiceAccess
  extends Pick<
    Connection,
    'profile' | 'baseUrl' | 'serviceName' | 'isEmbedded' | 'formatCommand' | 'keySource'
  > {
  readonly apiKey: string;
  /** The resource cache's name for base URL and key. */
  readonly scope: string;
}

/**
 * Resolves base URL and key and creates their client; starts the embedded service if it is the
 * default.
 */
export async function openConnection(sources: ConnectionSources): Promise<OpenConnection> {
  const { formatCommand } = sources;
  const address = resolveAddress(sources);
  if (sources.isReplay) {
    return openReplay(sources, { isEmbedded: address.isEmbedded, formatCommand });
  }

  if (address.isEmbedded) {
    if (!address.isChosen) introduceEmbedded(sources);
    return openEmbedded(sources, formatCommand);
  }

  const { value: apiKey, source: keySource } = await resolveKey(sources, address);
  return connectTo(sources, {
    profile: address.profile,
    baseUrl: address.baseUrl.value,
    apiKey,
    keySource,
  });
}

/**
 * Opens the embedded service although another one is configured, even incompletely; writes a note
 * about that.
 *
 * @param onlyPart the part of the command that runs here, for the note; all by default
 */
export async function openLocalConnection(
  sources: ConnectionSources,
  onlyPart?: string,
): Promise<OpenConnection> {
  const host = findConfiguredHost(sources);
  if (host === undefined) {
    introduceEmbedded(sources);
  } else {
    const subject = onlyPart === undefined ? '' : `${onlyPart} `;
    sources.io.note(`note: ${subject}runs here, not on ${toOneLine(host)}`);
  }

  const formatCommand = createCommandFormatter({ profile: LOCAL_PROFILE }, sources.env);
  return sources.isReplay
    ? openReplay(sources, { isEmbedded: true, formatCommand })
    : openEmbedded(sources, formatCommand);
}

/** Connects to a service by base URL and key. */
export function connectTo(
  sources: ConnectionSources,
  {
    apiKey,
    ...address
  }: Pick<Connection, 'profile' | 'baseUrl' | 'keySource'> & { readonly apiKey: string },
): Promise<OpenConnection> {
  const { baseUrl } = address;
  return connectWith(sources, {
    ...address,
    serviceName: baseUrl,
    isEmbedded: false,
    formatCommand: sources.formatCommand,
    apiKey,
    scope: computeResourceScope(baseUrl, apiKey),
  });
}

/** Introduces the embedded service to new users. */
function introduceEmbedded({ dataDir, io }: ConnectionSources): void {
  if (isEmpty(dataDir)) {
    io.note('Using the embedded service (profile local); for another: promptrun login');
  }
}

function isEmpty(directory: string): boolean {
  try {
    return readdirSync(directory).length === 0;
  } catch {
    return true;
  }
}

async function openEmbedded(
  sources: ConnectionSources,
  formatCommand: FormatCommand,
): Promise<OpenConnection> {
  const service = await sources.local.start({
    dataDir: sources.dataDir,
    modelsFile: sources.modelsFile,
    declaredModels: sources.declaredModels,
    workingDirectory: sources.cwd,
    allowPrivate: sources.globals.allowPrivate,
    onNotice: line => sources.io.note(`note: ${toOneLine(line)}`),
  });

  const access: ServiceAccess = {
    profile: LOCAL_PROFILE,
    baseUrl: service.url,
    serviceName: 'local',
    isEmbedded: true,
    formatCommand: addModelsFile(formatCommand, sources.globals.models),
    keySource: undefined,
    apiKey: service.sessionKey,
    scope: LOCAL_SCOPE,
  };
  try {
    return await connectWith(sources, access, service);
  } catch (error) {
    await service.close();
    throw error;
  }
}

/**
 * Adds the models file to commands that run something again, because they need it like the first
 * one.
 */
function addModelsFile(formatCommand: FormatCommand, models: string | undefined): FormatCommand {
  if (models === undefined) return formatCommand;
  return (...words) =>
    words[1] === 'rerun' ? formatCommand(...words, '--models', models) : formatCommand(...words);
}

/**
 * Opens a connection that needs no key, service or network: it refuses every request that is not
 * recorded.
 */
function openReplay(
  sources: ConnectionSources,
  { isEmbedded, formatCommand }: Pick<Connection, 'isEmbedded' | 'formatCommand'>,
): Promise<OpenConnection> {
  return connectWith(sources, {
    profile: undefined,
    baseUrl: 'http://localhost/v1',
    serviceName: 'replay',
    isEmbedded,
    formatCommand,
    keySource: undefined,
    apiKey: 'replay',
    scope: 'replay',
  });
}

async function connectWith(
  sources: ConnectionSources,
  { apiKey, scope, ...address }: ServiceAccess,
  service?: EmbeddedService,
): Promise<OpenConnection> {
  const { settings, clock, recordings } = sources;

  // A recording must hold every request of a replay; a cache would suppress some.
  const scratchDirectory =
    recordings.mode === 'none' ? undefined : path.join(tmpdir(), `promptrun-${randomUUID()}`);
  const directory = scratchDirectory ?? settings.directory;
  const onProblem = (problem: string): void => printDebugLine(sources, problem);

  // The recorder and the cache call the client only after it has been created with them.
  const recorder = await createRecorder(sources, address.baseUrl, () => client, service);
  const fetch: ResourceCacheOptions['fetch'] = limits => client.resources.get(limits);
  const resources = new ResourceCache({ directory, scope, fetch, clock, onProblem });
  const openServiceTransport = (): Promise<Transport> => openTransport(service, sources.env);
  const transport =
    recorder === undefined
      ? openServiceTransport
      : () => recorder.wrapTransport(openServiceTransport);
  const client: PromptService = await createClient(sources, address, {
    apiKey,
    resources,
    transport,
  });

  let prompts: PromptCache | undefined;
  return {
    connection: {
      ...address,
      findFault: runId => (recorder?.findFault ?? service?.inProcessRuns.findFault)?.(runId),
      client,
      resources,
      get prompts() {
        prompts ??= new PromptCache(directory, address.serviceName, onProblem);
        return prompts;
      },
      ...(recorder && { recorder }),
      ...(service && {
        inProcessRuns: service.inProcessRuns,
        costs: service.costs,
        providerBatches: service.providerBatches,
      }),
    },
    close: async stopCause => {
      prompts?.flush();
      try {
        await client.close();
      } finally {
        if (scratchDirectory !== undefined) {
          await rm(scratchDirectory, { recursive: true, force: true });
        }
        await service?.close(stopCause);
      }
    },
  };
}

/** Loads the recorder only if the command records or replays. */
async function createRecorder(
  sources: ConnectionSources,
  baseUrl: string,
  client: () => PromptService,
  service: EmbeddedService | undefined,
): Promise<Recorder | undefined> {
  const { recordings, signal, io } = sources;
  if (recordings.mode === 'none') return undefined;
  const { openRecorder } = await import('./open-recorder.ts');

  return openRecorder(recordings, {
    baseUrl,
    client,
    signal,
    note: line => io.note(line),
    findFault: runId => service?.inProcessRuns.findFault(runId),
    findCost: async runId => {
      const cost = (await service?.costs.readRunCosts([runId]))?.get(runId)?.cost;
      return typeof cost === 'number' ? toDollars(cost) : undefined;
    },
    models: sources,
  });
}
