import type { UncheckedObject } from '../../utils/bounded-json.ts';
import {
  MAX_QUERY_LENGTH,
  type PromptListQuery,
  type PromptPage,
  type PromptSearchResult,
  type PromptSearchRow,
  type PromptVersion,
  type PromptVersionList,
} from '../../wire/index.ts';
import { InvalidRequestError } from '../errors.ts';
import type { ReadOptions } from '../request-options.ts';
import { urlPath } from '../url-path.ts';
import {
  EndpointGroup,
  findListFault,
  findOptionalTextFault,
  findTextFault,
} from './answer-data.ts';
import { iteratePages, iterateRows } from './paging.ts';

/** A prompt file to publish. */
export interface PromptFile {
  readonly file: string;
  /** The partials that the file uses, by name. */
  readonly partials?: Readonly<Record<string, string>>;
}

/** The result of publishing a prompt. */
export interface PublishedPrompt {
  readonly slug: string;
  readonly promptId: string;
  readonly promptVersionId: string;
  readonly title: string;
  /** False if the latest version already had this content. */
  readonly changed: boolean;
}

/** A label that was set, moved or removed. */
export interface MovedLabel {
  readonly slug: string;
  readonly label: string;
  /** The version that the label points to now; null if the label was removed. */
  readonly promptVersionId: string | null;
  /** The version that it pointed to before; null if the label is new. */
  readonly previous: string | null;
}

/** Endpoints for published prompts. */
export class Prompts extends EndpointGroup {
  /** Returns the latest version of a prompt, or the version `versionId`. */
  async get(
    promptId: string,
    options: ReadOptions & { readonly versionId?: string } = {},
  ): Promise<PromptVersion> {
    const { versionId, ...requestOptions } = options;
    const request = { ...requestOptions, query: { versionId } };
    return await this.read(
      ['GET', urlPath`/prompts/${promptId}`],
      request,
      'prompt',
      findVersionFault,
    );
  }

  /**
   * Returns the prompts that match the words, best match first.
   *
   * @throws {InvalidRequestError} if there are no words, or more than 200 characters
   */
  async search(words: string, options: ReadOptions = {}): Promise<PromptSearchResult> {
    const request = { ...options, query: { q: checkSearchWords(words) } };
    return await this.read(['GET', '/prompts/publish'], request, 'search result', findRowsFault);
  }

  /**
   * Returns one page of all published prompts, newest first.
   *
   * @throws {NotFoundError} if the service has no such list; only a local service has one
   */
  async list(query: PromptListQuery = {}, options: ReadOptions = {}): Promise<PromptPage> {
    const request = { ...options, query: { ...query } };
    return await this.read(['GET', '/prompts'], request, 'list of prompts', findRowsFault);
  }

  /**
   * Publishes a prompt file under its slug; only on a `promptrun serve`, with the key of an author.
   *
   * @throws {ValidationError} whose `data.faults` lists the faults of the file
   */
  async publish(
    slug: string,
    prompt: PromptFile,
    options: ReadOptions = {},
  ): Promise<PublishedPrompt> {
    return await this.read(
      ['PUT', urlPath`/prompts/${slug}`],
      { ...options, body: prompt },
      'prompt',
      data => findTextFault(data, 'promptId', 'promptVersionId', 'slug'),
    );
  }

  /** Sets or moves a label; only on a local service, with the key of an author. */
  async setLabel(
    slug: string,
    label: string,
    promptVersionId: string,
    options: ReadOptions = {},
  ): Promise<MovedLabel> {
    const request = { ...options, body: { promptVersionId } };
    return await this.read(
      ['PUT', urlPath`/prompts/${slug}/labels/${label}`],
      request,
      'label',
      findLabelDataFault,
    );
  }

  /** Removes a label; only on a local service, with the key of an author. */
  async removeLabel(slug: string, label: string, options: ReadOptions = {}): Promise<MovedLabel> {
    return await this.read(
      ['DELETE', urlPath`/prompts/${slug}/labels/${label}`],
      options,
      'label',
      findLabelDataFault,
    );
  }

  /** Withdraws the prompt of a slug; only on a `promptrun serve`, with the key of an author. */
  async unpublish(slug: string, options: ReadOptions = {}): Promise<void> {
    await this.service.request('DELETE', urlPath`/prompts/${slug}`, options);
  }

  /** Yields pages of published prompts as they arrive; `limit` counts the prompts of all pages. */
  pages(query: PromptListQuery = {}, options: ReadOptions = {}): AsyncGenerator<PromptPage> {
    const fetch = (page: PromptListQuery): Promise<PromptPage> => this.list(page, options);
    const rowCursor = ({ promptId }: PromptSearchRow): string => promptId;
    return iteratePages({ noun: 'prompts', fetch, rowCursor }, query);
  }

  /**
   * Yields every published prompt, newest first, and holds one page at a time; `limit` counts the
   * prompts of all pages.
   */
  all(query: PromptListQuery = {}, options: ReadOptions = {}): AsyncGenerator<PromptSearchRow> {
    return iterateRows(this.pages(query, options), query);
  }
}

function findLabelDataFault(data: UncheckedObject): string | undefined {
  return findTextFault(data, 'slug', 'label');
}

function findVersionFault(data: UncheckedObject): string | undefined {
  return findTextFault(data, 'promptVersionId', 'promptId');
}

function findRowsFault(data: UncheckedObject): string | undefined {
  return findListFault(
    data,
    'rows',
    row =>
      findTextFault(row, 'promptId', 'promptVersionId') ??
      findOptionalTextFault(row, 'slug', 'title', 'description'),
  );
}

function checkSearchWords(words: string): string {
  const query = words.trim();
  if (query === '') throw new InvalidRequestError('a search needs at least one word');

  if (query.length > MAX_QUERY_LENGTH) {
    throw new InvalidRequestError(
      `a search takes at most ${MAX_QUERY_LENGTH} characters, not ${query.length}`,
    );
  }

  return query;
}

/** Endpoints for prompt versions. */
export class Versions extends EndpointGroup {
  /** Returns the published versions of a prompt, newest first, at most 10. */
  async list(promptId: string, options: ReadOptions = {}): Promise<PromptVersionList> {
    return await this.read(
      ['GET', urlPath`/prompts/${promptId}/versions`],
      options,
      'list of versions',
      data => findListFault(data, 'versions', entry => findTextFault(entry, 'promptVersionId')),
    );
  }

  /** Returns one version. */
  async get(promptVersionId: string, options: ReadOptions = {}): Promise<PromptVersion> {
    const route = ['GET', urlPath`/prompt-versions/${promptVersionId}`] as const;
    return await this.read(route, options, 'prompt version', findVersionFault);
  }
}
