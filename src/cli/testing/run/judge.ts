import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Connection, Context } from '../../context.ts';
import type { Budget } from '../../creation/budget.ts';
import { createAndWait } from '../../creation/create-and-wait.ts';
import { type CreationRequest, mayHaveRun } from '../../creation/creation.ts';
import type { Forecast } from '../../creation/forecast.ts';
import { CliError, usageError } from '../../errors.ts';
import { EXIT } from '../../exit-codes.ts';
import { buildRunBody } from '../../inputs/request-body.ts';
import { textOfOutputs } from '../../outputs/output-schema.ts';
import { providerFaultOf } from '../../outputs/provider-fault.ts';
import { resolveTarget } from '../../targets/target.ts';
import type { Question } from '../expectations/expectation.ts';

const PROMPT = `---
title: Judge
model: echo
input:
  schema:
    system?: string, how to answer
    prompt: string, the question
---
{{#if system}}{{role "system"}}{{system}}{{/if}}{{role "user"}}{{prompt}}
`;

/** The prompt that asks a judge, with that judge as its model. */
type JudgeVersion = Awaited<ReturnType<typeof resolveTarget>>;

/** Asks models of this machine's own service about answers; its runs are runs like any other. */
export class Judge {
  readonly #ctx: Context;
  readonly #model: string | undefined;
  readonly #budget: Budget;
  readonly #versions = new Map<string, Promise<JudgeVersion>>();
  #connection: Promise<Connection> | undefined;
  /** Called with each creation for a question, by its id in the journal, before it is sent, then with its run; awaited. */
  onRun: (creation: string, runId?: string | null) => Promise<void> = async () => {};

  /** @param model answers every question, whatever model it names */
  constructor(ctx: Context, model: string | undefined, budget: Budget) {
    this.#ctx = ctx;
    this.#model = model;
    this.#budget = budget;
  }

  /** @throws {CliError} USAGE_ERROR for a model that is not there */
  async check(model: string | undefined): Promise<void> {
    await this.#version(this.#modelOf({ model }));
  }

  #modelOf({ model }: Pick<Question, 'model'>): string | undefined {
    return this.#model ?? model;
  }

  /** @throws {CliError} CONFIG_ERROR for a model without a price under `--max-cost` */
  async checkPrice(model: string | undefined): Promise<void> {
    const body = await this.#bodyOf({ prompt: '?', ...(model !== undefined && { model }) });
    await this.#budget.checkPrice(await this.#local(), body);
  }

  /** Adds what a question is expected to cost. */
  async forecast(forecast: Forecast, question: Question): Promise<void> {
    const { estimatedCredits } = await this.#version(this.#modelOf(question));
    await forecast.add(await this.#local(), await this.#bodyOf(question), estimatedCredits);
  }

  /** The answer to a question. @throws {CliError} for a model that is not there, or a run that failed */
  readonly ask = async (question: Question): Promise<string> => {
    const body = await this.#bodyOf(question);
    const { estimatedCredits } = await this.#version(this.#modelOf(question));
    let creation = '';
    const created = await createAndWait(this.#ctx, await this.#local(), body, {
      budget: this.#budget,
      estimatedCredits,
      onBegin: ({ id }) => {
        creation = id;
        return this.onRun(id);
      },
    }).catch(async (error: unknown) => {
      if (creation !== '' && !mayHaveRun(error)) await this.onRun(creation, null);
      throw error;
    });
    await this.onRun(creation, created.kind === 'ended' ? created.run.runId : created.runId);
    if (created.kind === 'ended' && created.run.runStatus === 'succeeded') {
      return textOfOutputs(created.run.outputs);
    }
    const fault = created.kind === 'ended' && providerFaultOf(await this.#local(), created.run);
    if (fault) throw fault;
    throw new CliError("the judge's run failed", { status: 'PROTOCOL_ERROR', exitCode: EXIT.fault });
  };

  async #bodyOf({ prompt, system, model }: Question): Promise<CreationRequest> {
    const judge = this.#modelOf({ model });
    const { promptVersionId } = await this.#version(judge);
    const text = new Map([
      ...(system === undefined ? [] : [['system', system] as const]),
      ['prompt', prompt],
    ]);
    const request = { promptVersionId, text, images: [], options: new Map<string, string>() };
    return buildRunBody({ ...request, ...(judge !== undefined && { model: judge }) });
  }

  #local(): Promise<Connection> {
    this.#connection ??= this.#ctx.localConnection();
    return this.#connection;
  }

  #version(model: string | undefined): Promise<JudgeVersion> {
    if (model === undefined) {
      throw usageError('a rubric needs a judge', 'Name a model of this machine with --judge <model>.');
    }
    const version = this.#versions.get(model) ?? this.#versionWith(model);
    this.#versions.set(model, version);
    return version;
  }

  async #versionWith(model: string): Promise<JudgeVersion> {
    const directory = await mkdtemp(path.join(tmpdir(), 'promptrun-judge-'));
    try {
      const file = path.join(directory, 'judge.prompt');
      await writeFile(file, PROMPT);
      const options = { source: 'elsewhere', model } as const;
      return await resolveTarget(this.#ctx, await this.#local(), file, options);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }
}
