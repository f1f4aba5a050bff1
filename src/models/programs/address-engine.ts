import { type JsonValue, withoutUndefined } from '../../files/formats/json.ts';
import type { Env } from '../../utils/env.ts';
import { type DeclaredAddress, listSentVariables, usesPlaceholder } from '../declared-model.ts';
import {
  createFailedResult,
  createRefusedResult,
  type Engine,
  type EngineJob,
  type EngineResult,
} from '../engine.ts';
import { USER_AGENT } from '../outgoing/open-http.ts';
import { BodyTooLongError, readBody } from '../outgoing/read-body.ts';
import { ProviderFault } from '../providers/answers/provider-fault.ts';
import { createNetworkFault } from '../providers/network-fault.ts';
import { retryWhileBusy } from '../providers/retry-while-busy.ts';
import {
  MAX_PROVIDER_ANSWER_BYTES,
  type ProviderRequest,
  sendRequest,
} from '../providers/send-request.ts';
import { readAnswerResult } from './answer-result.ts';
import { maskSecrets } from './mask-secrets.ts';
import {
  createRunValues,
  encodeImageDataUrl,
  listPromptImages,
  type RunValues,
} from './placeholder-values.ts';
import { fillText, fillValue } from './placeholders.ts';
import { formatDuration } from './program-result.ts';

/** Matches the path of an address as it is written: `/v1/chat` in `https://host/v1/chat?x=1`. */
const PATH_IN_ADDRESS = /^https?:\/\/[^/?#]*(?<path>[^?#]*)/u;

/** Returns the engine that sends prompts to addresses in models.yaml. */
export function createAddressEngine({ env }: { readonly env: Env }): Engine {
  return {
    async run(job) {
      const { declaration, model } = job.model;
      if (declaration?.kind !== 'address') {
        return createFailedResult(`the model ${model} is not an address`);
      }

      const promptImages = listPromptImages(job);
      if (promptImages.length > 0 && !usesPlaceholder(declaration, 'images')) {
        return createRefusedResult(
          `${model} takes no pictures: its \`body\` has no \${images}`,
          'unfit',
        );
      }

      const values = createRunValues(job, declaration, {
        env,
        images: promptImages.map(encodeImageDataUrl),
      });
      const request = fillRequest(declaration, values, job.traceparent);
      if ('fault' in request) {
        return createRefusedResult(`${model} can't be called: ${request.fault}`, 'unfit');
      }

      const secrets = listSentVariables(declaration).flatMap(name => env[name]?.trim() || []);
      return maskSecrets(await sendJob(job, declaration, request, env), secrets);
    },
  };
}

/**
 * Sends the request of a job, and reads its answer. Retries only a 429: after any other fault the
 * server may have acted.
 */
async function sendJob(
  job: EngineJob,
  declaration: DeclaredAddress,
  request: ProviderRequest,
  env: Env,
): Promise<EngineResult> {
  const timeout = AbortSignal.timeout(declaration.timeoutMs);
  const signal = AbortSignal.any([job.signal, timeout]);

  const retrySettings = { sleep: job.sleep.bind(job), signal };
  try {
    const answer = await retryWhileBusy(
      retrySettings,
      () => sendRequest(request, env, signal),
      'unknown',
    );
    const text = (await readBody(answer, MAX_PROVIDER_ANSWER_BYTES)).toString('utf8');
    return await readAnswerResult(job, declaration, text);
  } catch (error) {
    job.signal.throwIfAborted();
    const { model } = job.model;
    if (timeout.aborted) {
      return createFailedResult(
        `${model} took longer than ${formatDuration(declaration.timeoutMs)}`,
      );
    }
    return createFailedRequestResult(model, toRequestFault(error, request));
  }
}

/** Returns the request of a run, or why there can't be one. */
function fillRequest(
  declaration: DeclaredAddress,
  values: RunValues,
  traceparent: string | undefined,
): ProviderRequest | { fault: string } {
  const address = fillText(declaration.address, values.getTextValue, encodeForUrl);
  const { path = '' } = PATH_IN_ADDRESS.exec(address)?.groups ?? {};
  if (path.split('/').some(segment => /^(?:\.|%2e){1,2}$/iu.test(segment))) {
    return { fault: `a value filled into its address would change the path: ${path}` };
  }

  const headers = fillHeaders(declaration, values);
  if ('fault' in headers) return headers;

  const body = fillBody(declaration, values);
  const defaultHeaders = withoutUndefined({
    accept: '*/*',
    'user-agent': USER_AGENT,
    traceparent,
    'content-type': body?.type,
  });

  return {
    url: new URL(address),
    method: declaration.method,
    headers: addDefaultHeaders(headers.filled, defaultHeaders),
    body: body && Buffer.from(body.text),
  };
}

/** Returns the declared headers, or why one of them can't be sent. */
function fillHeaders(
  declaration: DeclaredAddress,
  values: RunValues,
): { filled: Record<string, string> } | { fault: string } {
  const filled: Record<string, string> = {};
  for (const [name, text] of Object.entries(declaration.headers)) {
    const value = fillText(text, values.getTextValue);
    const invalidCharacter = describeInvalidCharacter(value);
    if (invalidCharacter !== undefined) {
      return {
        fault: `its header \`${name}\` would contain ${invalidCharacter} that headers can't contain`,
      };
    }

    filled[name] = value;
  }
  return { filled };
}

/** Adds defaults, named in lower case, for the headers that are not declared in any case. */
function addDefaultHeaders(
  declaredHeaders: Readonly<Record<string, string>>,
  defaultHeaders: Readonly<Record<string, string>>,
): Record<string, string> {
  const declaredNames = new Set(Object.keys(declaredHeaders).map(name => name.toLowerCase()));
  const missingDefaults = Object.entries(defaultHeaders).filter(
    ([name]) => !declaredNames.has(name),
  );
  return { ...Object.fromEntries(missingDefaults), ...declaredHeaders };
}

/**
 * Returns the kind of character in a value that a header can't contain; undefined if there is none.
 */
function describeInvalidCharacter(value: string): string | undefined {
  if (/[\0\r\n]/u.test(value)) return 'a line break';
  return /[^\t\x20-\x7e\xa0-\xff]/u.test(value) ? 'a character' : undefined;
}

/** Encodes a value for a URL. Replaces lone surrogates, which can't be encoded. */
function encodeForUrl(value: string): string {
  return encodeURIComponent(value.replace(/\p{Surrogate}/gu, '\uFFFD'));
}

function fillBody(
  { body }: DeclaredAddress,
  values: RunValues,
): { text: string; type: string } | undefined {
  if (body === undefined) return undefined;
  const filled: JsonValue = fillValue(body, values);
  if (typeof filled === 'string') return { text: filled, type: 'text/plain; charset=utf-8' };
  return { text: JSON.stringify(filled), type: 'application/json' };
}

function createFailedRequestResult(
  model: string,
  { message, details }: ProviderFault,
): EngineResult {
  const cost = details.mayHaveCost ? '; it may have been paid for' : '';
  const { isRefused = false, isUnanswered = false, fault } = details;
  return { ...createFailedResult(`${model} ${message}${cost}`), isRefused, isUnanswered, fault };
}

function toRequestFault(error: unknown, { url }: ProviderRequest): ProviderFault {
  if (error instanceof ProviderFault) return error;
  if (error instanceof BodyTooLongError) {
    return new ProviderFault(`answered with more than can be read: ${error.message}`, {
      mayHaveCost: true,
    });
  }
  return createNetworkFault(error, { baseUrl: url.origin });
}
