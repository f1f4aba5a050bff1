import type { PromptVersion, PromptVersionList } from '../wire/index.ts';
import { path } from './path.ts';
import type { ReadOptions, Requester } from './request.ts';
import { listOf, payload, strings } from './shape.ts';

/** Versions of prompts (interface §4.5, §4.7). */
export class Versions {
  readonly #service: Requester;

  constructor(service: Requester) {
    this.#service = service;
  }

  /** Published versions of a prompt, newest first, at most 10 (interface §4.5). */
  async list(promptId: string, options: ReadOptions = {}): Promise<PromptVersionList> {
    const answer = await this.#service.request<PromptVersionList>(
      'GET',
      path`/prompts/${promptId}/versions`,
      options,
    );
    return payload(answer, 'list of versions', data =>
      listOf(data, 'versions', entry => strings(entry, 'promptVersionId')),
    );
  }

  /** One version (service-facts, retrieve a prompt version). */
  async get(promptVersionId: string, options: ReadOptions = {}): Promise<PromptVersion> {
    const answer = await this.#service.request<PromptVersion>(
      'GET',
      path`/prompt-versions/${promptVersionId}`,
      options,
    );
    return payload(answer, 'prompt version', data => strings(data, 'promptVersionId', 'promptId'));
  }
}
