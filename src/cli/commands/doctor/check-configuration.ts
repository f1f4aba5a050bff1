import type { Context } from '../../context.ts';
import { failureOf } from '../../failure.ts';
import { type Address, resolveAddress } from '../../settings/resolve-address.ts';
import { resolveKey } from '../../settings/resolve-key.ts';
import { SETTING_KEYS } from '../../settings/setting-keys.ts';
import { type Check, passed } from './check.ts';

/** Reads every file of the configuration and finds out where requests would go, with whose key. */
export async function checkConfiguration(ctx: Context): Promise<{ check: Check; usable: boolean }> {
  try {
    for (const key of SETTING_KEYS) ctx.settings.get(key);
    ctx.settings.credentials.find('');
    const address = resolveAddress(ctx);
    const key = address.embedded ? undefined : await resolveKey(ctx, address);
    return { check: passed('configuration', described(address, key?.source)), usable: true };
  } catch (error) {
    const { message, hints, exitCode } = failureOf(error);
    return { check: { name: 'configuration', ok: false, detail: message, hints, exitCode }, usable: false };
  }
}

function described(address: Address, keySource: string | undefined): string {
  if (address.embedded) return 'the service built in (profile local)';
  const { value, source } = address.baseUrl;
  return `${value} from ${source}, key from ${keySource ?? 'nowhere'}`;
}
