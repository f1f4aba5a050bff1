import type { PlannedJob, PlannedJobs } from '../job-engine.ts';
import type { ProviderBatchParts } from './batch-packer.ts';
import { findBatchProvider } from './batch-session.ts';
import { VersionHandover } from './version-handover.ts';

/**
 * Hands jobs over to their model's provider as its batches, waits for the batches, and yields the
 * jobs with their answers ready. Never hands over jobs of earlier batches again.
 *
 * @throws {CliError} if the model's provider has no batches, or can't be reached
 */
export async function* handOverJobs(
  jobs: AsyncIterable<PlannedJob>,
  parts: ProviderBatchParts,
): AsyncGenerator<PlannedJob> {
  yield* handOverByVersion(new Map([[parts.promptVersionId, jobs]]), parts);
}

/** The things that the handovers of all versions share. */
export type HandoverParts = Omit<ProviderBatchParts, 'promptVersionId'>;

/**
 * Hands over the jobs of several versions, each version in its own batches: all before it waits for
 * any.
 *
 * @param jobsByVersion the jobs by version
 */
export async function* handOverByVersion(
  jobsByVersion: ReadonlyMap<string, PlannedJobs>,
  parts: HandoverParts,
): AsyncGenerator<PlannedJob> {
  const handovers: { readonly handover: VersionHandover; readonly jobs: PlannedJobs }[] = [];
  for (const [promptVersionId, jobs] of jobsByVersion) {
    const provider = await findBatchProvider(parts.connection, promptVersionId);
    handovers.push({
      handover: new VersionHandover({ ...parts, promptVersionId }, provider),
      jobs,
    });
  }
  try {
    for (const { handover, jobs } of handovers) yield* handover.handOver(jobs);
    if (parts.cancel) for (const { handover } of handovers) await handover.cancel();
    for (const { handover } of handovers) yield* handover.collectAnswers();
  } finally {
    for (const { handover } of handovers) handover.reportRunningBatches();
  }
}
