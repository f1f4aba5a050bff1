import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { environmentWithoutKeys } from '../../processes/find-program.ts';
import { ProcessTree, type ProgramEnd } from '../../processes/process-tree.ts';
import type { ProgramStart } from '../../processes/program-line.ts';
import { errorCode, errorMessage } from '../../utils/error-utils.ts';
import { type DeclaredProgram, usesPlaceholder } from '../declared-model.ts';
import { type Engine, type EngineJob, type EngineResult, failedWith, refusedWith } from '../engine.ts';
import { maskSecrets, secretsIn } from './mask-secrets.ts';
import { programRecords } from './orphaned-programs.ts';
import { placeholderValues, promptImages, type RunValues } from './placeholder-values.ts';
import { filledText, splitAtPlaceholders } from './placeholders.ts';
import { OutputCollector, type ProgramOutput } from './program-output.ts';
import { readFailed, readResult } from './read-answer.ts';
import { makeRunFolder, RUN_VARIABLE, type RunFolder } from './run-folder.ts';

export interface ProgramOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The data directory, which records running programs so that a later process ends them if this one is killed. */
  readonly dataDir: string;
  /** The absolute folder in which programs start. */
  readonly directory: string;
}

/** Maximum time to wait for the rest of the output after the program has ended. */
const PROGRAM_OUTPUT_GRACE = { waits: 10, ms: 100 } as const;

/** Returns the engine that runs programs in models.yaml. */
export function programEngine(options: ProgramOptions): Engine {
  return {
    async run(job) {
      const { declared, model } = job.model;
      if (declared?.kind !== 'program') return failedWith(`the model ${model} is not a program`);
      const pictures = promptImages(job);
      if (pictures.length > 0 && !usesPlaceholder(declared, 'images')) {
        return refusedWith(`${model} takes no pictures: its \`program\` has no \${images}`, 'unfit');
      }
      const { runOptions, runId, inputs } = job;
      const about = { runId, model, inputs: inputs.texts, options: runOptions };
      const folder = await makeRunFolder(programRecords(options.dataDir), about).catch((error: unknown) =>
        notStarted(job, declared, error),
      );
      if (!('remove' in folder)) return folder;
      try {
        return maskSecrets(await runInFolder(folder, { job, declared, options }), secretsIn(options.env));
      } finally {
        await folder.remove();
      }
    },
  };
}

interface ProgramRun {
  readonly job: EngineJob;
  readonly declared: DeclaredProgram;
  readonly options: ProgramOptions;
}

async function runInFolder(
  { file, folder, started }: RunFolder,
  { job, declared, options }: ProgramRun,
): Promise<EngineResult> {
  job.signal.throwIfAborted();
  const images = await writePictures(job, folder);
  const values = placeholderValues(job, declared, { env: {}, images });
  const env = {
    ...environmentWithoutKeys(options.env, []),
    [RUN_VARIABLE]: file,
    ...(job.traceparent !== undefined && { TRACEPARENT: job.traceparent }),
  };
  const start = {
    ...filledWords(declared, values),
    directory: declared.isTemporary ? folder : options.directory,
    env,
  };
  const [typed] = start.argv;
  let tree: ProcessTree | undefined;
  let recorded: Promise<void> | undefined;
  try {
    // A relative path is relative to the working directory, even if the program starts elsewhere.
    const isPath = /[\\/]/u.test(typed) && declared.isTemporary;
    const program = isPath ? path.resolve(options.directory, typed) : typed;
    tree = new ProcessTree({ ...start, argv: [program, ...start.argv.slice(1)] }, RUN_VARIABLE);
    // Don't await here: Node drops output that arrives before there is a listener.
    recorded = tree.root && started(tree.root).catch(() => {});
    tree.child.stdin.end(usesPlaceholder(declared, 'prompt', 'messages') ? '' : values.prompt);
    const output = await collectOutput(tree, job.signal, declared.timeoutMs);
    return await programResult(job, declared, output);
  } catch (error) {
    job.signal.throwIfAborted();
    return notStarted(job, declared, error);
  } finally {
    await tree?.end();
    await recorded;
  }
}

/** Writes each picture to a file; returns the paths. */
async function writePictures(job: EngineJob, folder: string): Promise<string[]> {
  return await Promise.all(
    promptImages(job).map(async ({ bytes, mediaType }, index) => {
      const ending = /^image\/(?:x-)?([a-z\d]+)/u.exec(mediaType)?.[1] ?? 'bin';
      const file = path.join(folder, `${index + 1}.${ending}`);
      await writeFile(file, bytes, { mode: 0o600 });
      return file;
    }),
  );
}

/** Fills in the words of a program: each value stays within its word, and one with `${images}` is repeated per picture. */
function filledWords({ argv }: DeclaredProgram, values: RunValues): Pick<ProgramStart, 'argv' | 'filled'> {
  const words: string[] = [];
  const filled = new Set<number>();
  for (const word of argv) {
    const names = splitAtPlaceholders(word).flatMap(piece => (typeof piece === 'string' ? [] : piece.name));
    const pictures = names.includes('images') ? values.images : [''];
    for (const picture of pictures) {
      if (names.some(name => name !== 'here' && name !== 'model' && name !== 'images')) {
        filled.add(words.length);
      }
      words.push(
        filledText(word, placeholder =>
          placeholder.name === 'images' ? picture : values.inText(placeholder),
        ),
      );
    }
  }
  const [program = '', ...args] = words;
  return { argv: [program, ...args], filled };
}

/** Returns the output and the end of a program once all of its processes have ended. @throws if it can't be started */
async function collectOutput(
  tree: ProcessTree,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<ProgramOutput> {
  const stopped = new AbortController();
  const printed = new OutputCollector(tree.child, () => stopped.abort());
  const closed = new Promise<void>(resolve => tree.child.once('close', () => resolve()));
  const timer = setTimeout(() => stopped.abort(), timeoutMs);
  const onAbort = (): void => stopped.abort();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const isStopped = new Promise<undefined>(resolve => {
      stopped.signal.addEventListener('abort', () => resolve(undefined), { once: true });
    });
    const end = await Promise.race([tree.ended, isStopped]);
    await tree.end();
    signal.throwIfAborted();
    await waitForOutput(closed);
    return { ...printed.take(), end };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/** Waits for the output in several steps, so that a process that was suspended meanwhile still reads what is there. */
async function waitForOutput(closed: Promise<void>): Promise<void> {
  const isClosed = closed.then(() => true);
  for (let waits = 0; waits < PROGRAM_OUTPUT_GRACE.waits; waits += 1) {
    if (await Promise.race([isClosed, delay(PROGRAM_OUTPUT_GRACE.ms, false, { ref: false })])) return;
  }
}

/** Returns the result of a program that has ended: its answer if it succeeded, else why it failed. */
async function programResult(
  job: EngineJob,
  declared: DeclaredProgram,
  { answer, complaint, isTooLong, end }: ProgramOutput,
): Promise<EngineResult> {
  const { model } = job.model;
  if (isTooLong) {
    return failedWith(`${model} printed more than ${OutputCollector.mostMiB} MiB${reasonSuffix(complaint)}`);
  }
  if (end?.code === 0) return await readResult(job, declared, answer);
  const { reason, ...facts } = await readFailed(job, declared, { answer, complaint });
  const failure =
    end === undefined
      ? `took longer than ${timeText(declared.timeoutMs)}${reasonSuffix(complaint)}`
      : `${endText(end)}${reasonSuffix(reason)}`;
  return { ...failedWith(`${model} ${failure}`), ...facts };
}

function endText({ code, signal }: ProgramEnd): string {
  return signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
}

function reasonSuffix(reason: string): string {
  return reason.trim() === '' ? '' : `: ${reason.trim()}`;
}

/** Error codes of an operating system for a command line that is too long. */
const TOO_LONG: ReadonlySet<string | undefined> = new Set(['E2BIG', 'ENAMETOOLONG']);

function notStarted(
  { model: { model } }: EngineJob,
  { argv }: DeclaredProgram,
  error: unknown,
): EngineResult {
  const code = errorCode(error);
  if (code === 'UNSAFE_ARGUMENT') return refusedWith(`${model}: ${errorMessage(error)}`, 'unfit');
  if (TOO_LONG.has(code)) {
    const advice = 'leave ${prompt} out of its `program`, so that the prompt comes on standard input';
    return refusedWith(`${model}: the prompt is too long for an argument: ${advice}`, 'not-started');
  }
  return refusedWith(`${model}: ${argv[0]} can't be started: ${errorMessage(error)}`, 'not-started');
}

/** Formats a duration, such as `10 min` or `1.5 s`. */
export function timeText(ms: number): string {
  return ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1000} s`;
}
