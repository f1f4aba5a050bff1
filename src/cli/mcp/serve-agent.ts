import { PassThrough } from 'node:stream';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { toError } from '../../utils/error-utils.ts';
import type { Context } from '../context.ts';
import type { Caps } from '../creation/spending/caps.ts';
import { toOneLine } from '../terminal/sanitise.ts';
import { AgentSession } from './agent-session.ts';
import type { SessionPrompts } from './session-prompts.ts';

/** Interval between checks for a reader of an idle standard output, in milliseconds. */
const READER_CHECK_INTERVAL_MS = 250;

const WAITING_NOTE =
  'note: waiting for a client of the Model Context Protocol on standard input; press Ctrl-D to end. ' +
  'How a client starts it: promptrun mcp --help';

/**
 * Speaks the protocol on standard input and output until the input ends or `ctx.signal` is aborted.
 */
export async function serveAgent(ctx: Context, prompts: SessionPrompts, caps: Caps): Promise<void> {
  const session = new AgentSession(ctx, prompts, caps);
  const input = new PassThrough();
  const { stream } = ctx.io.stdin;
  stream.pipe(input, { end: false });
  const inputEnded = new Promise<void>(resolve => {
    stream.once('end', resolve).once('close', resolve).once('error', resolve);
    ctx.signal.addEventListener('abort', () => resolve());
    if (ctx.signal.aborted) resolve();
  });

  const output = new PassThrough();
  const outputWritten = writeOut(ctx, output);
  if (ctx.io.stdin.isTerminal) ctx.io.note(WAITING_NOTE);
  const handle = serveStdio(() => session.createServer(), {
    transport: new StdioServerTransport(input, output),
    onerror: error => {
      if (ctx.globals.debug) ctx.io.error(`debug: ${toOneLine(error.message)}`);
    },
  });

  const sessionEnd = new AbortController();
  const readerGone = waitUntilReaderIsGone(ctx, sessionEnd.signal);
  const endReason = await Promise.race([
    inputEnded.then(() => 'input ended'),
    outputWritten.then(() => 'output closed'),
    readerGone.then(() => 'output unread'),
  ]);

  sessionEnd.abort();
  if (!ctx.signal.aborted && endReason === 'input ended') {
    await Promise.race([session.waitForAnswers(), outputWritten]);
  }

  session.announceEnd();
  await handle.close();
  stream.unpipe(input);
  await session.close();
  output.end();
  await outputWritten;
}

/** Resolves when standard output has no reader any more, even if idle, or the signal is aborted. */
async function waitUntilReaderIsGone({ io, clock }: Context, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && io.hasReader()) {
    await clock.sleep(READER_CHECK_INTERVAL_MS, signal).catch(() => {});
  }
}

/** Writes the output; a closed or full standard output ends the session. */
async function writeOut({ io }: Context, output: PassThrough): Promise<void> {
  try {
    for await (const chunk of output as AsyncIterable<Uint8Array>) {
      if (!(await io.out(chunk))) return;
    }
  } catch (error) {
    output.destroy(toError(error));
  }
}
