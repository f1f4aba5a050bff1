import type { JsonValue } from '../../files/formats/json.ts';
import type { Env } from '../../utils/env.ts';
import { type DeclaredAddress, sentVariables, usesPlaceholder } from '../declared-model.ts';
import { type Engine, type EngineJob, type EngineResult, failedWith, refusedWith } from '../engine.ts';
import { type HttpAnswer, USER_AGENT } from '../outgoing/open-http.ts';
import { BodyTooLong, readBody } from '../outgoing/read-body.ts';
import { ProviderFault } from '../providers/answers/provider-fault.ts';
import { providerNetworkFault } from '../providers/network-fault.ts';
import { retryWhileBusy } from '../providers/retry-while-busy.ts';
import { MAX_PROVIDER_ANSWER_BYTES, type ProviderRequest, sendRequest } from '../providers/send-request.ts';
import { maskSecrets } from './mask-secrets.ts';
import { imageDataUrl, placeholderValues, promptImages, type RunValues } from './placeholder-values.ts';
import { fillText, fillValue } from './placeholders.ts';
import { timeText } from './program-result.ts';
import { readResult } from './read-answer.ts';

/** Returns the engine that sends prompts to addresses in models.yaml. */
export function addressEngine({ env }: { readonly env: Env }): Engine {
  return {
    async run(job) {
      const { declared, model } = job.model;
      if (declared?.kind !== 'address') return failedWith(`the model ${model} is not an address`);
      const pictures = promptImages(job);
      if (pictures.length > 0 && !usesPlaceholder(declared, 'images')) {
        return refusedWith(`${model} takes no pictures: its \`body\` has no \${images}`, 'unfit');
      }
      const values = placeholderValues(job, declared, { env, images: pictures.map(imageDataUrl) });
      const request = filledRequest(declared, values, job);
      if ('fault' in request) return refusedWith(`${model} can't be called: ${request.fault}`, 'unfit');
      const secrets = sentVariables(declared).flatMap(name => env[name]?.trim() || []);
      const timeout = AbortSignal.timeout(declared.timeoutMs);
      const signal = AbortSignal.any([job.signal, timeout]);
      try {
        const answer = await ask(request, { job, env, signal });
        const text = (await readBody(answer, MAX_PROVIDER_ANSWER_BYTES)).toString('utf8');
        return maskSecrets(await readResult(job, declared, text), secrets);
      } catch (error) {
        job.signal.throwIfAborted();
        if (timeout.aborted) return failedWith(`${model} took longer than ${timeText(declared.timeoutMs)}`);
        return maskSecrets(failedResult(job, error, request), secrets);
      }
    },
  };
}

/** Sends the request; retries only a 429, because after any other fault the server may have acted. */
async function ask(
  request: ProviderRequest,
  { job, env, signal }: { job: EngineJob; env: Env; signal: AbortSignal },
): Promise<HttpAnswer> {
  const once = async (): Promise<{ answer: HttpAnswer } | { error: unknown }> => {
    try {
      return { answer: await sendRequest(request, env, signal) };
    } catch (error) {
      if (error instanceof ProviderFault && error.details.status === 429) throw error;
      return { error };
    }
  };
  const outcome = await retryWhileBusy({ sleep: job.sleep.bind(job), signal }, once);
  if ('error' in outcome) throw outcome.error;
  return outcome.answer;
}

/** Returns the request of a run, or why there can't be one. */
function filledRequest(
  declaredAddress: DeclaredAddress,
  values: RunValues,
  { traceparent }: Pick<EngineJob, 'traceparent'>,
): ProviderRequest | { fault: string } {
  const address = fillText(declaredAddress.address, values.inText, urlEncoded);
  const [, path = ''] = /^https?:\/\/[^/?#]*([^?#]*)/u.exec(address) ?? [];
  if (path.split('/').some(segment => /^(?:\.|%2e){1,2}$/iu.test(segment))) {
    return { fault: `a value filled into its address would change the path: ${path}` };
  }
  const headers: Record<string, string> = {};
  for (const [name, text] of Object.entries(declaredAddress.headers)) {
    const value = fillText(text, values.inText);
    const unfit = unfitForHeader(value);
    if (unfit !== undefined) {
      return { fault: `its header \`${name}\` would contain ${unfit} that headers can't contain` };
    }
    headers[name] = value;
  }
  const body = filledBody(declaredAddress, values);
  const defaults = {
    accept: '*/*',
    'user-agent': USER_AGENT,
    ...(traceparent !== undefined && { traceparent }),
    ...(body && { 'content-type': body.type }),
  };
  const own = new Set(Object.keys(headers).map(name => name.toLowerCase()));
  const otherDefaults = Object.entries(defaults).filter(([name]) => !own.has(name));
  return {
    url: new URL(address),
    method: declaredAddress.method,
    headers: { ...Object.fromEntries(otherDefaults), ...headers },
    body: body && Buffer.from(body.text),
  };
}

function unfitForHeader(value: string): string | undefined {
  if (/[\0\r\n]/u.test(value)) return 'a line break';
  return /[^\t\x20-\x7e\xa0-\xff]/u.test(value) ? 'a character' : undefined;
}

/** Encodes a value for a URL. Replaces lone surrogates, which can't be encoded. */
function urlEncoded(value: string): string {
  return encodeURIComponent(value.replace(/\p{Surrogate}/gu, '\uFFFD'));
}

function filledBody(
  { body }: DeclaredAddress,
  values: RunValues,
): { text: string; type: string } | undefined {
  if (body === undefined) return undefined;
  const filled: JsonValue = fillValue(body, values);
  if (typeof filled === 'string') return { text: filled, type: 'text/plain; charset=utf-8' };
  return { text: JSON.stringify(filled), type: 'application/json' };
}

function failedResult(
  { model: { model } }: EngineJob,
  error: unknown,
  request: ProviderRequest,
): EngineResult {
  const { what, details } = requestFault(error, request);
  const cost = details.mayHaveCost ? '; it may have been paid for' : '';
  const fault = details.fault === undefined ? {} : { fault: details.fault };
  const { isRefused = false, isUnanswered = false } = details;
  return { ...failedWith(`${model} ${what}${cost}`), isRefused, isUnanswered, ...fault };
}

function requestFault(error: unknown, { url }: ProviderRequest): ProviderFault {
  if (error instanceof ProviderFault) return error;
  if (error instanceof BodyTooLong) {
    return new ProviderFault(`answered with more than can be read: ${error.message}`, { mayHaveCost: true });
  }
  return providerNetworkFault(error, { baseUrl: url.origin });
}
