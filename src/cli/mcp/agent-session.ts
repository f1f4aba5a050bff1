import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { Redaction } from '../../client/http/redaction.ts';
import { withoutUndefined } from '../../files/formats/json.ts';
import type { Context } from '../context.ts';
import { toFailure } from '../core/failure.ts';
import { Budget } from '../creation/spending/budget.ts';
import type { Caps } from '../creation/spending/caps.ts';
import { readInputFields } from '../inputs/read-input-fields.ts';
import { toOneLine } from '../terminal/sanitise.ts';
import type { OfferedPrompt } from './directory-prompts.ts';
import type { ToolCall } from './follow-run.ts';
import { getImageArgumentName, renderAgentMessages, toProtocolPrompt } from './prompt-messages.ts';
import { getRun, runPromptTool } from './run-tools.ts';
import type { SessionPrompts } from './session-prompts.ts';
import type { ToolArguments } from './tool-arguments.ts';
import { checkArguments, TOOLS } from './tool-declarations.ts';

/**
 * Maximum time to answer requests that create nothing after the input has ended, in milliseconds.
 */
const MAX_LAST_ANSWERS_MS = 2000;

/** Interval between checks for open requests, in milliseconds. */
const ANSWER_CHECK_INTERVAL_MS = 20;

/** Matches text with a flag, such as `add --resume` or `(-m)`, which can't help an agent. */
const FLAG = /(?:^|[\s(])--?[a-z]/u;

/** Matches a parenthesis, such as ` (see --help)`. */
const PARENTHESIS = / \([^()]*\)/gu;

/** The state that all requests of a client share. */
export class AgentSession {
  readonly #ctx: Context;
  readonly #prompts: SessionPrompts;
  readonly #budget: Budget;
  readonly #sessionEnd = new AbortController();
  /**
   * The number of open requests that create nothing; they are answered even after the input has
   * ended.
   */
  #openLookupCount = 0;
  #isEnding = false;
  readonly #openCalls = new Set<Promise<unknown>>();
  #redaction: Promise<Redaction> | undefined;

  constructor(ctx: Context, prompts: SessionPrompts, caps: Caps) {
    this.#ctx = { ...ctx, signal: AbortSignal.any([ctx.signal, this.#sessionEnd.signal]) };
    this.#prompts = prompts;
    this.#budget = new Budget(this.#ctx, caps, { refusesOneByOne: true });
  }

  createServer(): Server {
    const server = new Server(
      { name: 'promptrun', title: 'promptrun', version: this.#ctx.version },
      { capabilities: { tools: {}, prompts: {} } },
    );
    server.setRequestHandler('tools/list', () => ({ tools: [...TOOLS] }));
    server.setRequestHandler('prompts/list', (_, { mcpReq }) =>
      this.#answerLookup(async () => ({
        prompts: (await this.#prompts.list(mcpReq.signal)).map(toProtocolPrompt),
      })),
    );

    server.setRequestHandler('prompts/get', ({ params }) =>
      this.#answerLookup(() =>
        renderAgentMessages(this.#ctx, this.#prompts, params.name, params.arguments ?? {}),
      ),
    );

    server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
      const { name, arguments: args = {} } = params;
      const tool = TOOLS.find(candidate => candidate.name === name);
      if (tool === undefined) {
        const message = `unknown tool ${JSON.stringify(name)}`;
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
      }

      const call = toToolCall(mcpReq, () => this.#isEnding);
      return this.#toToolResult(this.#call(tool, args, call));
    });

    return server;
  }

  /** Resolves when all requests that create nothing are answered. */
  async waitForAnswers(): Promise<void> {
    const { clock } = this.#ctx;
    const deadline = clock.now() + MAX_LAST_ANSWERS_MS;
    do {
      await clock.sleep(ANSWER_CHECK_INTERVAL_MS);
    } while (this.#openLookupCount > 0 && clock.now() < deadline);
  }

  /** Announces that `close` is about to stop the unfinished runs of the embedded service. */
  announceEnd(): void {
    this.#isEnding = true;
  }

  /** Stops waiting for unfinished runs. */
  async close(): Promise<void> {
    this.#sessionEnd.abort(
      Object.assign(new Error('the session has ended'), { stopCause: 'the end of the session' }),
    );
    await Promise.allSettled(this.#openCalls);
  }

  async #call(tool: Tool, args: ToolArguments, call: ToolCall): Promise<CallToolResult> {
    checkArguments(tool, args);
    if (tool.name === 'search_prompts') return this.#answerLookup(() => this.#search(args, call));
    if (tool.name === 'get_run') return getRun(this.#ctx, args, call);
    return runPromptTool(
      { ctx: this.#ctx, prompts: this.#prompts, budget: this.#budget },
      args,
      call,
    );
  }

  async #search(args: ToolArguments, { signal }: ToolCall): Promise<CallToolResult> {
    const words = typeof args['words'] === 'string' ? args['words'].trim() : '';
    const prompts = (await this.#prompts.search(words, signal)).map(toPromptSummary);
    return {
      content: [{ type: 'text', text: JSON.stringify(prompts, null, 1) }],
      structuredContent: { prompts },
    };
  }

  /** Answers a request that creates nothing; turns faults into errors of the protocol. */
  async #answerLookup<T>(lookUp: () => Promise<T>): Promise<T> {
    this.#openLookupCount += 1;
    try {
      return await this.#withoutKeys(await lookUp());
    } catch (error) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, this.#explain(error));
    } finally {
      this.#openLookupCount -= 1;
    }
  }

  /** Turns a fault of a tool into a result, because the agent should read it. */
  async #toToolResult(result: Promise<CallToolResult>): Promise<CallToolResult> {
    this.#openCalls.add(result);
    try {
      return await this.#withoutKeys(await result);
    } catch (error) {
      return { isError: true, content: [{ type: 'text', text: this.#explain(error) }] };
    } finally {
      this.#openCalls.delete(result);
    }
  }

  /**
   * Removes all keys from an answer. Other commands show answers to the user unchanged; here they
   * go to a model.
   */
  async #withoutKeys<T>(answer: T): Promise<T> {
    this.#redaction ??= createRedaction(this.#ctx);
    const { client } = await this.#ctx.connection();
    return client.redact((await this.#redaction).redactValue(answer));
  }

  #explain(error: unknown): string {
    if (error instanceof ProtocolError) return error.message;
    const { message, status, hints } = toFailure(error);
    const usefulHints = hints.map(withoutFlagSentences).filter(hint => hint !== '');
    return [
      `error: ${withoutFlags(toOneLine(message))} (${status})`,
      ...usefulHints.map(toOneLine),
    ].join('\n');
  }
}

async function createRedaction(ctx: Context): Promise<Redaction> {
  const { collectSecretKeys } = await import('../../models/catalogue/provider-keys.ts');
  return new Redaction(...(await collectSecretKeys(ctx)));
}

/**
 * Removes the sentences that name a flag: an agent has no command line, but the rest of a hint may
 * help it.
 */
function withoutFlagSentences(hint: string): string {
  const sentences = hint.split(/(?<=\.) /u);
  return sentences.filter(sentence => !FLAG.test(sentence)).join(' ');
}

/** Names the caps in words, and removes the advice to add a flag. */
function withoutFlags(message: string): string {
  const [statement = '', ...advice] = message
    .replaceAll('--max-cost', 'the limit on cost')
    .replaceAll('--max-credits', 'the limit on credits')
    .replaceAll(PARENTHESIS, aside => (FLAG.test(aside) ? '' : aside))
    .split('; ');
  return [statement, ...advice.filter(clause => !FLAG.test(clause))].join('; ');
}

function toToolCall(
  { signal, notify, _meta }: ServerContext['mcpReq'],
  isSessionOver: ToolCall['isSessionOver'],
): ToolCall {
  const token = _meta?.progressToken;
  let progress = 0;
  return {
    signal,
    isSessionOver,
    reportProgress: message => {
      if (token === undefined || signal.aborted) return;
      progress += 1;
      const params = { progressToken: token, progress, message };
      notify({ method: 'notifications/progress', params }).catch(() => {});
    },
  };
}

function toPromptSummary({
  name,
  title,
  description,
  config,
}: OfferedPrompt): Record<string, unknown> {
  const { text, images } = readInputFields(config);
  return {
    prompt: name,
    title,
    ...(description !== '' && { description }),
    inputs: text.map(({ key, required, ...field }) =>
      withoutUndefined({
        name: key,
        required,
        description: field.description,
        choices: field.choices,
        default: field.default,
      }),
    ),
    images: images.map(
      (image, index) => image.description ?? getImageArgumentName(index, images.length),
    ),
  };
}
