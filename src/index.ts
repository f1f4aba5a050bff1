export { PromptService } from './client/client.ts';
export type { Download, DownloadOptions } from './client/download.ts';
export * from './client/errors.ts';
export {
  answerIsLost,
  type FoundRuns,
  findLostRun,
  findLostRuns,
  type LostCreation,
  type LostRunClient,
  type LostRunSearch,
} from './client/find-lost-run.ts';
export type { ServiceClock } from './client/http/http-session.ts';
export { createTransport } from './client/http/undici-transport.ts';
export type { CreateOptions, EncodedBody } from './client/nouns/runs.ts';
export type {
  Answer,
  ClientOptions,
  Pace,
  PacedAnswer,
  RawAnswer,
  ReadOptions,
  RequestEvent,
  RequestOptions,
} from './client/request-options.ts';
export type { RunPromptOptions } from './client/run-prompt.ts';
export type {
  AnswerHeaders,
  RequestBody,
  Transport,
  TransportOptions,
  TransportRequest,
  TransportResponse,
} from './client/transport.ts';
export {
  type PollEvent,
  type PollingClient,
  type WaitOptions,
  waitForRun,
} from './client/wait-for-run.ts';
export type { ProxyVariables } from './net/proxy.ts';
export * from './wire/envelope.ts';
export * from './wire/limits.ts';
export * from './wire/prompt.ts';
export * from './wire/run.ts';
export * from './wire/service.ts';
