export * from './client/client.ts';
export * from './client/errors.ts';
export { type PollEvent, type WaitOptions, waitForRun } from './client/poll.ts';
export {
  answerIsLost,
  type FoundRuns,
  findLostRun,
  findLostRuns,
  type LostCreation,
  type LostRunSearch,
} from './client/recover.ts';
export {
  createTransport,
  type RequestBody,
  type Transport,
  type TransportOptions,
  type TransportRequest,
  type TransportResponse,
} from './client/transport.ts';
export * from './wire/index.ts';
