import type { RunStatus } from '../../wire/index.ts';
import type { StoredMedia } from './media-store.ts';

/** An output as it is kept: media by id, since its URL depends on who serves it. */
export type StoredOutput =
  | { type: 'text' | 'error'; data: string }
  | { type: 'image' | 'video'; media: string; mediaType: string; createdAt: number };

/** What a run needs to be run, kept until it ends. */
export interface StoredRequest {
  textInputs: Record<string, string>;
  /** Media types of the input images, whose bytes are in files. */
  images: string[];
  runOptions: Record<string, string>;
}

export interface NewRun {
  id: string;
  userId: number;
  promptVersionId: string;
  promptId: string;
  name: string;
  status: 'queued' | 'running';
  /** The estimate that is reserved. */
  credits: number;
  request: StoredRequest;
  worker: string | null;
}

/** A run as it is read. */
export interface StoredRun {
  id: string;
  promptVersionId: string;
  name: string;
  status: RunStatus;
  createdAt: number;
  credits: number;
  tokens: number;
  outputs: StoredOutput[];
}

/** How a run ended. */
export interface Outcome {
  status: 'succeeded' | 'failed';
  outputs: StoredOutput[];
  tokens: number;
  media: StoredMedia[];
}

/** The columns of a run that are read. */
export const RUN_COLUMNS = [
  'id',
  'promptVersionId',
  'name',
  'status',
  'createdAt',
  'credits',
  'tokens',
  'outputs',
] as const;

export function parseOutputs<R extends { outputs: string }>(
  row: R,
): Omit<R, 'outputs'> & Pick<StoredRun, 'outputs'> {
  return { ...row, outputs: row.outputs === '[]' ? [] : (JSON.parse(row.outputs) as StoredOutput[]) };
}
