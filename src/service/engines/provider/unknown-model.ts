import { askForModels } from '../../models/endpoints.ts';
import type { ModelEntry } from '../../models/entry.ts';
import type { Access } from './access.ts';
import type { ProviderFault } from './provider-fault.ts';

const SHOWN = 5;

/** Whether a provider refused because it does not know the model. */
export function isUnknownModel({ what, more: { status } }: ProviderFault): boolean {
  return (
    status === 404 ||
    (status === 400 && /\bmodel\b/i.test(what) && /\b(?:not|unknown|invalid|exist)/i.test(what))
  );
}

/** What a provider has in place of a model, the nearest names first; undefined if it does not tell. */
export async function nearestModels(
  { model, id = model }: ModelEntry,
  { provider, env }: Access,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { models } = await askForModels(provider, env, signal);
    const names = models.map(offered => ({ name: offered.id, likeness: likeness(offered.id, id) }));
    names.sort((one, other) => other.likeness - one.likeness);
    if (names.length === 0) return undefined;
    const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '';
    return `it has ${names
      .slice(0, SHOWN)
      .map(({ name }) => name)
      .join(', ')}${more}`;
  } catch {
    return undefined;
  }
}

/** The share of neighbouring letters that two names have in common, from 0 to 1. */
function likeness(one: string, other: string): number {
  const [a, b] = [pairs(one), pairs(other)];
  const common = [...a].filter(pair => b.has(pair)).length;
  return (2 * common) / (a.size + b.size || 1);
}

function pairs(name: string): Set<string> {
  const text = name.toLowerCase();
  return new Set(Array.from({ length: Math.max(text.length - 1, 0) }, (_, at) => text.slice(at, at + 2)));
}
