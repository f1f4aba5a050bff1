import { MAX_QUERY_LENGTH, type PromptSearchResult, type PromptVersion } from '../wire/index.ts';
import { InvalidRequestError } from './errors.ts';
import { path } from './path.ts';
import type { Requester, RequestOptions } from './request.ts';
import { listOf, payload, strings } from './shape.ts';

type Options = Pick<RequestOptions, 'signal' | 'timeoutMs' | 'retries'>;

/** Published prompts (interface §4.4, §4.7). */
export class Prompts {
  readonly #service: Requester;

  constructor(service: Requester) {
    this.#service = service;
  }

  /** A prompt in its latest version, or in the one given (interface §4.4). */
  async get(
    promptId: string,
    options: Options & { readonly versionId?: string } = {},
  ): Promise<PromptVersion> {
    const { versionId, ...rest } = options;
    const request = { ...rest, query: { versionId } };
    const answer = await this.#service.request<PromptVersion>('GET', path`/prompts/${promptId}`, request);
    return payload(answer, 'prompt', data => strings(data, 'promptVersionId', 'promptId'));
  }

  /**
   * Prompts that fit the words, best match first (service-facts, search).
   *
   * @throws {InvalidRequestError} for no words, or more than 200 characters
   */
  async search(words: string, options: Options = {}): Promise<PromptSearchResult> {
    const request = { ...options, query: { q: searchQuery(words) } };
    const answer = await this.#service.request<PromptSearchResult>('GET', '/prompts/publish', request);
    return payload(answer, 'search result', data =>
      listOf(data, 'rows', row => strings(row, 'promptId', 'promptVersionId')),
    );
  }
}

function searchQuery(words: string): string {
  const q = words.trim();
  if (q === '') throw new InvalidRequestError('a search needs at least one word');
  if (q.length > MAX_QUERY_LENGTH) {
    throw new InvalidRequestError(`a search takes at most ${MAX_QUERY_LENGTH} characters, not ${q.length}`);
  }
  return q;
}
