import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  SharedV4Warning,
} from '@ai-sdk/provider';
import { getErrorMessage } from '../../../utils/error-utils.ts';
import { ProviderFault } from '../answers/provider-fault.ts';
import type { ProviderAccess } from '../provider-access.ts';
import type { ProviderRequest } from '../send-request.ts';
import type { ClientSettings } from './provider-interface.ts';

/** A request as a client passes it to `fetch`. */
export type CapturedRequest = Pick<ProviderRequest, 'url' | 'method' | 'headers'> & {
  readonly body: unknown;
};

/** A client's request with its warnings. */
export interface CapturedCall {
  readonly request: CapturedRequest;
  readonly warnings: readonly SharedV4Warning[];
}

/** Lets a client make its request against a dummy response, and returns the request. */
export async function captureRequest(
  { provider, key }: ProviderAccess,
  dummyAnswer: string,
  callClient: (settings: ClientSettings) => Promise<readonly SharedV4Warning[]>,
): Promise<CapturedCall> {
  const capturedRequests: CapturedRequest[] = [];
  const fetch = createCapturingFetch(capturedRequests, dummyAnswer);

  // Without a key the client would look for one, or send an empty header.
  const settings = { baseURL: provider.baseUrl, apiKey: key ?? 'none', headers: {}, fetch };
  let warnings: readonly SharedV4Warning[] = [];
  try {
    warnings = await callClient(settings);
  } catch (error) {
    // A client that rejects the dummy response has made its request already.
    if (capturedRequests.length === 0) {
      throw new ProviderFault(`'s client can't make this request: ${getErrorMessage(error)}`, {
        isRefused: true,
      });
    }
  }

  const [request] = capturedRequests;
  if (!request) throw new ProviderFault("'s client made no request", { isRefused: true });
  return { request, warnings };
}

/** Returns a `fetch` that keeps requests instead of sending them, and answers with a text. */
function createCapturingFetch(
  capturedRequests: CapturedRequest[],
  answer: string,
): NonNullable<ClientSettings['fetch']> {
  const contentType = answer === '' ? 'text/event-stream' : 'application/json';
  return async (input, init = {}) => {
    capturedRequests.push({
      url: new URL(input instanceof Request ? input.url : input),
      method: init.method ?? 'GET',
      headers: Object.fromEntries(new Headers(init.headers)),
      body: init.body,
    });
    return new Response(answer, { headers: { 'content-type': contentType } });
  };
}

/** Has a client start a streamed request and returns its warnings, which come first. */
export async function readStreamWarnings(
  client: LanguageModelV4,
  call: LanguageModelV4CallOptions,
): Promise<readonly SharedV4Warning[]> {
  const reader = (await client.doStream(call)).stream.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return value?.type === 'stream-start' ? value.warnings : [];
}
