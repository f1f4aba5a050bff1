import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { JsonObject } from '../../../files/formats/json.ts';
import type { Run } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import { CliError, usageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-codes.ts';
import { createAndWait, waitForKnownRun } from '../../creation/create-and-wait.ts';
import { type CreationRequest, mayHaveRun } from '../../creation/creation-result.ts';
import type { Budget } from '../../creation/spending/budget.ts';
import type { Forecast } from '../../creation/spending/forecast.ts';
import { buildRunBody, type RunRequest } from '../../inputs/request-body.ts';
import { findBatchProvider } from '../../jobs/provider-batch/batch-session.ts';
import { joinTextOutputs } from '../../outputs/output-schema.ts';
import { findProviderFault } from '../../outputs/provider-fault.ts';
import { joinProviderReasons } from '../../outputs/run-errors.ts';
import type { JournalEntry } from '../../settings/journal/journal-lines.ts';
import { resolveTarget } from '../../targets/resolve-target.ts';
import type { ModelQuestion } from '../expectations/expectation.ts';
import { findModelDeclaration } from '../run/model-declaration.ts';
import type { JudgeQuestion, QuestionRounds } from './question-rounds.ts';

const JUDGE_PROMPT = `---
title: Judge
model: echo
input:
  schema:
    system?: string, how to answer
    prompt: string, the question
---
{{#if system}}{{role "system"}}{{system}}{{/if}}{{role "user"}}{{prompt}}
`;

/** The judging prompt with the judge as its model. */
interface JudgeVersion {
  readonly promptVersionId: string;
  readonly estimatedCredits?: unknown;
  /** A digest of how a configuration declares the judge; undefined if none does. */
  readonly declarationDigest: string | undefined;
}

/**
 * The creations for the questions about one repetition, from earlier invocations of the test and
 * from this one.
 */
export interface JudgeLog {
  /** The id of the repetition that the questions are about. */
  readonly repetitionId: string;
  /** True to repeat a question whose run failed in an earlier invocation. */
  readonly repeatsFailed: boolean;
  /**
   * Takes the result of a question from an earlier invocation, each result once: its run, or a
   * creation to send again under its key. Returns undefined if the question must be asked again.
   *
   * @param declarationDigest a digest of how a configuration declares the judge
   * @throws {CliError} if a creation may have made a run of unknown id
   */
  takeEarlierResult(
    request: CreationRequest,
    declarationDigest: string | undefined,
  ): { readonly runId?: string; readonly entry?: JournalEntry } | undefined;
  /** Records that a creation is about to be sent. */
  recordCreation(entry: JournalEntry, declarationDigest: string | undefined): Promise<void>;
  /** Records the run of a creation; null if it made none. */
  recordEnd(creationId: string, runId: string | null): Promise<void>;
}

/** A question with its request to a model. */
interface PreparedQuestion
  extends Pick<JudgeQuestion, 'request' | 'estimatedCredits'>,
    Pick<JudgeVersion, 'declarationDigest'> {
  readonly connection: Connection;
}

/** A question with the body of its creation. */
interface AskedQuestion extends PreparedQuestion {
  readonly body: ReturnType<typeof buildRunBody>;
}

/** The model that a question names, with its precedence and its config. */
type RequestedModel = Pick<ModelQuestion, 'model' | 'judgeRank' | 'judgeConfig'>;

/** The model that judges, with its config; undefined if none is named. */
interface ChosenJudge {
  readonly model: string | undefined;
  readonly config?: JsonObject | undefined;
}

/** Asks models of the embedded service about answers, with ordinary runs. */
export class Judge {
  readonly #ctx: Context;
  readonly #model: string | undefined;
  readonly #budget: Budget;
  readonly #versions = new Map<string, Promise<JudgeVersion>>();
  #connection: Promise<Connection> | undefined;

  /** @param model the model of `--judge`, which overrides most models that questions name */
  constructor(ctx: Context, model: string | undefined, budget: Budget) {
    this.#ctx = ctx;
    this.#model = model;
    this.#budget = budget;
  }

  /** @throws {CliError} USAGE_ERROR if the model does not exist */
  async checkModel(requested: RequestedModel): Promise<void> {
    await this.#getVersion(this.#chooseJudge(requested));
  }

  /** @throws {CliError} CONFIG_ERROR if the model has no price under `--max-cost` */
  async checkPrice({ model, judgeRank, judgeConfig }: RequestedModel): Promise<void> {
    const body = await this.#buildBody({ prompt: '?', model, judgeRank, judgeConfig });
    await this.#budget.checkPrice(await this.#connect(), body);
  }

  /** @throws {CliError} USAGE_ERROR if the model's provider has no batches */
  async checkBatch(requested: RequestedModel): Promise<void> {
    const { promptVersionId } = await this.#getVersion(this.#chooseJudge(requested));
    await findBatchProvider(await this.#connect(), promptVersionId);
  }

  /** Adds the estimate of a question to a forecast. */
  async forecast(
    forecast: Forecast,
    question: ModelQuestion,
    { providerBatch }: { readonly providerBatch: boolean },
  ): Promise<void> {
    const { estimatedCredits } = await this.#getVersion(this.#chooseJudge(question));
    await forecast.add(await this.#connect(), await this.#buildBody(question), {
      estimatedCredits,
      providerBatch,
    });
  }

  /**
   * Answers a question. Uses the answer of an earlier invocation that asked it about the same
   * repetition.
   *
   * @param rounds asks it together with questions about other repetitions
   * @throws {CliError} if the model does not exist, or the run failed
   */
  async ask(question: ModelQuestion, log: JudgeLog, rounds?: QuestionRounds): Promise<string> {
    const preparedQuestion = await this.prepareQuestion(question);
    const body = buildRunBody(preparedQuestion.request);
    const askedQuestion = { ...preparedQuestion, body };
    const { runId, entry } = log.takeEarlierResult(body, preparedQuestion.declarationDigest) ?? {};
    const earlierRun =
      runId === undefined ? undefined : await this.#readEarlierRun(runId, askedQuestion, log);
    if (earlierRun !== undefined) return getJudgeReply(earlierRun);

    if (rounds === undefined || entry !== undefined) {
      return getJudgeReply(await this.#askAlone({ ...askedQuestion, entry }, log));
    }

    const { request, estimatedCredits } = preparedQuestion;
    const result = await rounds.ask({ repetitionId: log.repetitionId, request, estimatedCredits });
    if (result.fault) throw new CliError(result.fault.message, result.fault);
    return getJudgeReply(result.run ?? (await this.#askAlone({ ...askedQuestion, entry }, log)));
  }

  /**
   * Builds the request of a question with its connection.
   *
   * @throws {CliError} USAGE_ERROR if the model does not exist
   */
  async prepareQuestion(question: ModelQuestion): Promise<PreparedQuestion> {
    const { estimatedCredits, declarationDigest } = await this.#getVersion(
      this.#chooseJudge(question),
    );
    const connection = await this.#connect();
    const request = await this.#buildRequest(question);
    return { connection, request, estimatedCredits, declarationDigest };
  }

  /**
   * Returns the run of an earlier invocation; undefined if it failed and its question is to be
   * asked again.
   */
  async #readEarlierRun(
    runId: string,
    { connection, body }: AskedQuestion,
    log: JudgeLog,
  ): Promise<Run | undefined> {
    const readRun = (): Promise<Run> =>
      waitForKnownRun(this.#ctx, connection, runId, { idFromService: false });
    const run = await readRun();
    if (run.runStatus !== 'succeeded' && log.repeatsFailed) return undefined;
    if (connection.recorder?.registerEarlierRun === undefined) return run;

    // The run is read once more, because only answers that are used may be recorded.
    connection.recorder.registerEarlierRun(runId, body.recordedRequest);
    return await readRun();
  }

  /**
   * Creates a run for a question, or sends the creation `entry` of an earlier invocation again, and
   * waits for it.
   */
  async #askAlone(
    {
      connection,
      body,
      entry,
      estimatedCredits,
      declarationDigest,
    }: AskedQuestion & { readonly entry: JournalEntry | undefined },
    log: JudgeLog,
  ): Promise<Run> {
    let creationId = '';
    const creationResult = await createAndWait(this.#ctx, connection, body, {
      budget: this.#budget,
      estimatedCredits,
      entry: entry && { ...entry, baseUrl: connection.serviceName },
      onBegin: journalEntry => {
        creationId = journalEntry.id;
        return log.recordCreation(journalEntry, declarationDigest);
      },
    }).catch(async (error: unknown) => {
      if (creationId !== '' && !mayHaveRun(error)) await log.recordEnd(creationId, null);
      throw error;
    });
    if (creationResult.kind === 'running') {
      throw new Error('a run that was waited for has not ended');
    }

    const { run } = creationResult;
    const fault = findProviderFault(connection, run);
    await log.recordEnd(creationId, fault === undefined ? run.runId : null);
    if (fault) throw fault;

    return run;
  }

  async #buildBody(question: ModelQuestion): Promise<CreationRequest> {
    return buildRunBody(await this.#buildRequest(question));
  }

  async #buildRequest({ prompt, system, ...requested }: ModelQuestion): Promise<RunRequest> {
    const judge = this.#chooseJudge(requested);
    const { promptVersionId } = await this.#getVersion(judge);
    const text = new Map(system === undefined ? [] : [['system', system]]);
    text.set('prompt', prompt);
    const request = { promptVersionId, text, images: [], options: new Map<string, string>() };

    return { ...request, ...(judge.model !== undefined && { model: judge.model }) };
  }

  #chooseJudge({ model, judgeRank, judgeConfig: config }: RequestedModel): ChosenJudge {
    if (judgeRank === 'first' && model !== undefined) return { model, config };
    if (this.#model !== undefined) return { model: this.#model };
    const setting = this.#ctx.settings.get('judge');
    const usesSetting = model === undefined || (judgeRank === 'last' && setting !== undefined);
    return usesSetting ? { model: setting } : { model, config };
  }

  #connect(): Promise<Connection> {
    this.#connection ??= this.#ctx.localConnection('the judge');
    return this.#connection;
  }

  #getVersion({ model, config }: ChosenJudge): Promise<JudgeVersion> {
    if (model === undefined) {
      throw usageError(
        'a rubric needs a judge',
        'Name a model of this machine with --judge <model>, or for good: promptrun config set judge <model>.',
      );
    }

    const key = JSON.stringify([model, config]);
    const version = this.#versions.get(key) ?? this.#createVersion(model, config);
    this.#versions.set(key, version);
    return version;
  }

  async #createVersion(model: string, config: JsonObject | undefined): Promise<JudgeVersion> {
    const directory = await mkdtemp(path.join(tmpdir(), 'promptrun-judge-'));
    try {
      const file = path.join(directory, 'judge.prompt');
      await writeFile(file, JUDGE_PROMPT);
      const options = { source: 'elsewhere', model, config } as const;
      const version = await resolveTarget(this.#ctx, await this.#connect(), file, options);
      const declaration = await findModelDeclaration(this.#ctx, version.promptVersionId);
      const declarationDigest =
        declaration && createHash('sha256').update(declaration).digest('hex');

      return { ...version, declarationDigest };
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }
}

/** Returns the judge's reply. @throws {CliError} if the run failed */
export function getJudgeReply(run: Run): string {
  if (run.runStatus === 'succeeded') return joinTextOutputs(run.outputs);
  throw new CliError(`the judge's run failed: ${joinProviderReasons(run)}`, {
    status: 'PROTOCOL_ERROR',
    exitCode: EXIT.fault,
    hints: ['Ask the judge again, at its price, with --resume --retry-unknown.'],
  });
}
