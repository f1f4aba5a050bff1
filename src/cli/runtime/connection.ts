import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { PromptService } from '../../client/client.ts';
import type { RequestEvent } from '../../client/request.ts';
import type { Transport } from '../../client/transport.ts';
import type { EmbeddedService } from '../../service/embedded.ts';
import type { Connection } from '../context.ts';
import type { LocalService } from '../core/local-service.ts';
import type { Recorder } from '../core/recorder.ts';
import type { Advise, Clock, Env, GlobalOptions } from '../core/types.ts';
import { TimeIsUp } from '../errors.ts';
import { PromptCache } from '../settings/caches/prompt-cache.ts';
import { ResourceCache } from '../settings/caches/resource-cache.ts';
import { LOCAL_SCOPE, resourceScope } from '../settings/caches/resource-entries.ts';
import { configuredHost, resolveAddress } from '../settings/config/address.ts';
import { LOCAL_PROFILE } from '../settings/config/names.ts';
import { resolveKey } from '../settings/credentials/resolve-key.ts';
import type { Settings } from '../settings/settings.ts';
import { adviseWith } from '../terminal/advise.ts';
import type { Io } from '../terminal/io.ts';
import { oneLine } from '../terminal/sanitise.ts';
import { openRecorder, recordingsOf } from './recordings.ts';
import { openTransport } from './transport.ts';

/** What a connection is made from. */
export interface ConnectionSources {
  readonly io: Io;
  readonly globals: GlobalOptions;
  readonly env: Env;
  readonly clock: Clock;
  readonly settings: Settings;
  readonly local: LocalService;
  readonly dataDir: string;
  readonly cwd: string;
  readonly version: string;
  /** How long the command may still take, in milliseconds. */
  readonly timeLeftMs: () => number;
  /** Aborted when the command is interrupted. */
  readonly signal: AbortSignal;
}

export interface OpenConnection {
  readonly connection: Connection;
  /** @param by what ends the command, if it is not done yet */
  close(by?: string): Promise<void>;
}

/** Finds base URL and key and makes the client for them; starts the embedded service if that is what is meant. */
export async function openConnection(sources: ConnectionSources): Promise<OpenConnection> {
  const address = resolveAddress(sources);
  const advise = adviseWith(sources.globals);
  if (isReplay(sources)) return openReplay(sources, { embedded: address.embedded, advise });
  if (address.embedded) {
    if (!address.chosen) introduceEmbedded(sources);
    return openEmbedded(sources, advise);
  }
  const { value: apiKey, source: keySource } = await resolveKey(sources, address);
  return connectTo(sources, { profile: address.profile, baseUrl: address.baseUrl.value, apiKey, keySource });
}

/** This machine's own service although another one, or only half of one, is configured; says so. */
export async function openLocalConnection(sources: ConnectionSources): Promise<OpenConnection> {
  const host = configuredHost(sources);
  if (host === undefined) introduceEmbedded(sources);
  else sources.io.note(`note: runs here, not on ${oneLine(host)}`);
  const advise = adviseWith({ profile: LOCAL_PROFILE });
  return isReplay(sources) ? openReplay(sources, { embedded: true, advise }) : openEmbedded(sources, advise);
}

/** Whether the configured service is this machine's own. */
export function usesLocalService(sources: ConnectionSources): boolean {
  try {
    return resolveAddress(sources).embedded;
  } catch {
    return false;
  }
}

/** Makes the client for a base URL and key that are known already. */
export function connectTo(
  sources: ConnectionSources,
  peer: { profile: string | undefined; baseUrl: string; apiKey: string; keySource?: string },
): Promise<OpenConnection> {
  const { profile, baseUrl, apiKey, keySource } = peer;
  const advise = adviseWith(sources.globals);
  const place = { profile, baseUrl, service: baseUrl, embedded: false, advise, keySource };
  return connect(sources, { place, apiKey, scope: resourceScope(baseUrl, apiKey) });
}

/** Names the built-in service to those who don't know it yet. */
function introduceEmbedded({ dataDir, io }: ConnectionSources): void {
  if (isEmpty(dataDir)) io.note('Using the built-in service (profile local); for another: promptrun login');
}

async function openEmbedded(sources: ConnectionSources, advise: Advise): Promise<OpenConnection> {
  const service = await sources.local.start({
    dataDir: sources.dataDir,
    onNotice: line => sources.io.note(`note: ${oneLine(line)}`),
  });
  const { url: baseUrl, sessionKey: apiKey } = service;
  const place = {
    profile: LOCAL_PROFILE,
    baseUrl,
    service: 'local',
    embedded: true,
    advise,
    keySource: undefined,
  };
  try {
    return await connect(sources, { place, apiKey, scope: LOCAL_SCOPE, service });
  } catch (error) {
    await service.close();
    throw error;
  }
}

/** Needs no key, no service and no network: whatever is not recorded is refused. */
function openReplay(
  sources: ConnectionSources,
  chosen: Pick<Connection, 'embedded' | 'advise'>,
): Promise<OpenConnection> {
  const place = {
    ...chosen,
    profile: undefined,
    baseUrl: 'http://localhost/v1',
    service: 'replay',
    keySource: undefined,
  };
  return connect(sources, { place, apiKey: 'replay', scope: 'replay' });
}

function isReplay({ globals, env, cwd }: ConnectionSources): boolean {
  return recordingsOf(globals, env, cwd).mode === 'replay';
}

function isEmpty(directory: string): boolean {
  try {
    return readdirSync(directory).length === 0;
  } catch {
    return true;
  }
}

interface Peer {
  readonly place: Pick<Connection, 'profile' | 'baseUrl' | 'service' | 'embedded' | 'advise' | 'keySource'>;
  readonly apiKey: string;
  /** What the resource cache calls the two. */
  readonly scope: string;
  readonly service?: EmbeddedService;
}

async function connect(sources: ConnectionSources, peer: Peer): Promise<OpenConnection> {
  const { settings, clock } = sources;
  const recordings = recordingsOf(sources.globals, sources.env, sources.cwd);
  // A recording has to hold what a replay asks, which a cache would keep from being asked.
  const scratch = recordings.mode === 'none' ? undefined : path.join(tmpdir(), `promptrun-${randomUUID()}`);
  const recorder = await openRecorder(recordings, {
    baseUrl: peer.place.baseUrl,
    client: () => client,
    signal: sources.signal,
    note: line => sources.io.note(line),
  });
  const caches = {
    directory: scratch ?? settings.directory,
    service: peer.place.service,
    onProblem: (problem: string) => debugNote(sources, problem),
  };
  const resources: ResourceCache = new ResourceCache({
    ...caches,
    scope: peer.scope,
    fetch: limits => client.resources.get(limits),
    clock,
  });
  const client: PromptService = await clientFor(sources, peer, resources, recorder);
  const prompts = new PromptCache(caches);
  return {
    connection: {
      ...peer.place,
      client,
      resources,
      prompts,
      ...(recorder && { recorder }),
      ...(peer.service && {
        runsHere: peer.service.runsHere,
        costs: peer.service.costs,
        providerBatches: peer.service.providerBatches,
      }),
    },
    close: async by => {
      await client.close();
      if (scratch !== undefined) await rm(scratch, { recursive: true, force: true });
      await peer.service?.close(by);
    },
  };
}

async function clientFor(
  sources: ConnectionSources,
  peer: Peer,
  resources: ResourceCache,
  recorder: Recorder | undefined,
): Promise<PromptService> {
  const { clock, globals, version, timeLeftMs } = sources;
  const { PromptService } = await import('../../client/client.ts');
  const open = (): Promise<Transport> => openTransport(peer.service, sources.env);
  return new PromptService({
    baseUrl: peer.place.baseUrl,
    apiKey: peer.apiKey,
    transport: recorder === undefined ? open : () => recorder.wrap(open),
    sleep: async (ms, signal) => {
      if (ms > timeLeftMs()) throw new TimeIsUp();
      await clock.sleep(ms, signal);
    },
    now: () => clock.now(),
    random: () => clock.random(),
    cliAgent: () => resources.cliAgent(),
    onActionRequire: () => resources.noteActionRequired(),
    userAgent: `promptrun/${version}`,
    errorContext: peer.place,
    ...(globals.debug && {
      eventBodies: globals.debugBody,
      onEvent: (event: RequestEvent) => {
        for (const line of debugLines(event)) debugNote(sources, line);
      },
    }),
  });
}

function debugNote({ io, globals }: ConnectionSources, line: string): void {
  if (globals.debug) io.error(`debug: ${line}`);
}

/** What happened to a request: a line, then one for each header that matters, then the body. */
function debugLines(event: RequestEvent): string[] {
  const { kind, method, url, attempt, status, ms, waitMs, message, headers = {}, body } = event;
  const facts = {
    request: attempt === 1 ? '' : `try ${attempt}`,
    answer: `${status ?? ''} in ${ms ?? 0} ms`,
    failure: `failed after ${ms ?? 0} ms: ${message ?? ''}`,
    retry: `again in ${Math.round(waitMs ?? 0)} ms`,
  };
  return [
    oneLine(`${method} ${url} ${facts[kind]}`.trim()),
    ...Object.entries(headers).map(([name, value]) => oneLine(`  ${name}: ${value}`)),
    ...(body === undefined ? [] : [oneLine(`  ${body}`)]),
  ];
}
