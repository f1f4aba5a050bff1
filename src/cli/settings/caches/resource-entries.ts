import { createHash } from 'node:crypto';
import type { Model, RunOption } from '../../../wire/index.ts';
import { isObject } from '../../core/json-value.ts';

/** The models of one service as one account sees them. */
export interface ResourceEntry {
  /** Base URL and key fingerprint in one (see `resourceScope`). */
  readonly scope: string;
  /** The base URL, or `local` for the embedded service. */
  readonly service: string;
  /** As the service gave it. */
  readonly hash: string;
  /** As the service gave them. */
  readonly models: readonly unknown[];
  /** ISO 8601. */
  readonly fetchedAt: string;
  /** The form of `cli-agent` that the service wants; the bare hash if undefined. */
  readonly agentForm?: AgentForm;
}

/** `resources_hash=<hash>`, or that neither this nor the bare hash is understood. */
export type AgentForm = 'named' | 'neither';

export const RESOURCES_FILE = 'resources.json';
/** The embedded service's scope: its key dies with each process, its models don't. */
export const LOCAL_SCOPE = 'local';
const MOST_ENTRIES = 20;
// What may stand in a header; a hash with a line break in it would forge another header.
const SENDABLE = /^[\u0021-\u007e]{1,1024}$/u;

/** Names one account at one service without giving its key away. */
export function resourceScope(baseUrl: string, apiKey: string): string {
  return createHash('sha256').update(`${baseUrl}\n${apiKey}`).digest('hex').slice(0, 32);
}

/** The entries of a cache file; what is damaged is left out. */
export function parseEntries(stored: unknown): ResourceEntry[] {
  const list = isObject(stored) && Array.isArray(stored.services) ? (stored.services as unknown[]) : [];
  return list.filter(isEntry);
}

/** The entries with one put first, and the one not renewed for longest let go if there are too many. */
export function withEntry(entries: readonly ResourceEntry[], entry: ResourceEntry): ResourceEntry[] {
  return [entry, ...entries.filter(other => other.scope !== entry.scope)].slice(0, MOST_ENTRIES);
}

/** Models without what is not of the interface's form, so that a hostile answer does no harm. */
export function wellFormedModels(models: readonly unknown[]): Model[] {
  return models
    .filter(isObject)
    .filter(model => typeof model.model === 'string')
    .map(model => ({ ...model, availableRunOptions: wellFormedOptions(model.availableRunOptions) }) as Model);
}

/** Whether a hash can be sent back in a header. */
export function isSendable(hash: string): boolean {
  return SENDABLE.test(hash);
}

function wellFormedOptions(options: unknown): RunOption[] {
  const list: unknown[] = Array.isArray(options) ? options : [];
  return list
    .filter(isObject)
    .filter(option => typeof option.key === 'string' && Array.isArray(option.options))
    .map(option => ({
      key: option.key as string,
      options: (option.options as unknown[]).filter(value => typeof value === 'string'),
    }));
}

function isEntry(entry: unknown): entry is ResourceEntry {
  return (
    isObject(entry) &&
    ['scope', 'service', 'hash', 'fetchedAt'].every(field => typeof entry[field] === 'string') &&
    Array.isArray(entry.models)
  );
}
