import type { BaseAnthropic } from '@anthropic-ai/sdk/client';
import { type Access, type ClientLimits, clientOptions, headersFor } from '../provider/access.ts';

/**
 * A client of Anthropic's interface without the parts that are not used. Everything is passed to it, so that it looks for
 * nothing in the environment, or in files, by itself.
 */
export async function connect(access: Access, limits?: ClientLimits): Promise<BaseAnthropic> {
  const { BaseAnthropic } = await import('@anthropic-ai/sdk/client');
  const { provider, key } = access;
  return new BaseAnthropic({
    ...clientOptions(access, limits),
    apiKey: key ?? 'none',
    authToken: null,
    webhookKey: null,
    openTelemetry: false,
    defaultHeaders: {
      // Gateways that speak this interface know the older of both headers only.
      ...(key === undefined ? { authorization: null } : { 'x-api-key': key }),
      ...headersFor(provider),
    },
  });
}
