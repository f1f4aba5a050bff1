export * from './client/client.ts';
export * from './client/errors.ts';
export { type FoundRuns, findLostRun, answerIsLost, type LostCreation } from './client/recover.ts';
export { type PollEvent, waitForRun, type WaitOptions } from './client/poll.ts';
export {
  createTransport,
  type RequestBody,
  type Transport,
  type TransportOptions,
  type TransportRequest,
  type TransportResponse,
} from './client/transport.ts';
export * from './wire/index.ts';
