import { createHash } from 'node:crypto';
import type { Model } from '../../wire/index.ts';

/** The hash of `GET /resources`: the same for the same models in every process, whatever order their fields came in. */
export function resourcesHash(models: readonly Model[]): string {
  return createHash('sha256').update(canonical(models)).digest('base64url');
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonical(field)}`).join(',')}}`;
}
