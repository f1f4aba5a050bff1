import type { FastifyRequest } from 'fastify';
import type { OutputItem, Run, RunRow } from '../../wire/index.ts';
import type { Services } from '../services.ts';
import type { StoredOutput, StoredRun } from '../store/run-records.ts';

/** A run as creation and retrieval give it (interface §2). */
export function runView(run: Pick<StoredRun, 'id' | 'status' | 'tokens'>, outputs: OutputItem[]): Run {
  return { runId: run.id, outputs, runStatus: run.status, tokens: run.tokens };
}

/** A run as the list gives it (interface §2); one that was free has no credits. */
export function runRow(run: StoredRun, outputs: OutputItem[]): RunRow {
  return {
    runId: run.id,
    promptVersionId: run.promptVersionId,
    outputs,
    runStatus: run.status,
    credits: run.credits === 0 ? null : run.credits,
    runName: run.name,
    createdAt: new Date(Math.floor(run.createdAt / 1000)).toISOString(),
  };
}

/** Outputs with the URLs under which this process serves their media. */
export function outputViews(
  { media, origin }: Services,
  request: FastifyRequest,
  outputs: StoredOutput[],
): OutputItem[] {
  return outputs.map(output =>
    'media' in output
      ? { type: output.type, data: `${origin(request)}${media.pathOf(output)}` }
      : { type: output.type, data: output.data },
  );
}
