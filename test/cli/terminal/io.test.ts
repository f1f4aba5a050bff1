import { Writable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { CliError } from '../../../src/cli/core/errors.ts';
import { createPaint } from '../../../src/cli/terminal/colour.ts';
import { completeIo, createPlainIo, type Streams } from '../../../src/cli/terminal/io.ts';

class Collecting extends Writable {
  readonly pieces: Buffer[] = [];

  constructor(private readonly fault?: { code: string }) {
    super({ highWaterMark: 1 });
  }

  override _write(piece: Buffer, _: string, done: (error?: Error) => void): void {
    this.pieces.push(piece);
    done(this.fault && Object.assign(new Error('write failed'), this.fault));
  }

  text(): string {
    return Buffer.concat(this.pieces).toString();
  }
}

function createStreams(stdout: Writable, stderr: Writable = new Collecting()): Streams {
  return {
    stdout,
    stderr,
    stdinIsTerminal: false,
    stdin: () => {
      throw new Error('standard input was opened');
    },
    releaseStdin: () => {},
  };
}

describe('standard output', () => {
  it('gets the exact bytes, in order', async () => {
    const stdout = new Collecting();
    const io = createPlainIo(createStreams(stdout));
    await Promise.all([io.out('ä'), io.out(Uint8Array.of(0xff, 0x00)), io.out('')]);
    expect(Buffer.concat(stdout.pieces)).toEqual(Buffer.from([0xc3, 0xa4, 0xff, 0x00]));
  });

  it.each(['EPIPE', 'ECONNRESET'])('returns false if its reader has gone: %s', async code => {
    const io = createPlainIo(createStreams(new Collecting({ code })));
    expect([await io.out('a'), await io.out('b')]).toEqual([false, false]);
  });

  it('reports that it cannot be written for another reason', async () => {
    const io = createPlainIo(createStreams(new Collecting({ code: 'ENOSPC' })));
    await expect(io.out('a')).rejects.toThrow(CliError);
  });
});

describe('standard error', () => {
  it('gets notes without control characters', async () => {
    const stderr = new Collecting();
    const paint = await createPaint(0);
    const io = completeIo(createPlainIo(createStreams(new Collecting(), stderr)), {
      quiet: false,
      paint,
      paintErr: paint,
    });
    io.note('resuming run \u001B]0;x\u0007');

    expect(stderr.text()).toBe('resuming run ^[]0;x^G\n');
  });

  it('gets errors but no notes with --quiet', async () => {
    const stderr = new Collecting();
    const paint = await createPaint(0);
    const io = completeIo(createPlainIo(createStreams(new Collecting(), stderr)), {
      quiet: true,
      paint,
      paintErr: paint,
    });
    io.note('note');
    io.error('error');

    expect(stderr.text()).toBe('error\n');
  });

  it('ignores its own faults, because there is nowhere to report them', async () => {
    const io = createPlainIo(createStreams(new Collecting(), new Collecting({ code: 'EPIPE' })));
    io.error('a');
    io.error('b');
    expect(await io.out('c')).toBe(true);
  });
});

it('clears a spinner before each write except its own drawing', async () => {
  const io = createPlainIo(createStreams(new Collecting()));
  const stepAside = vi.fn();
  const stop = io.beforeWrite(stepAside);
  io.err('drawing');

  expect(stepAside).toHaveBeenCalledTimes(0);

  io.error('line');
  await io.out('result');

  expect(stepAside).toHaveBeenCalledTimes(2);

  stop();
  io.error('line');

  expect(stepAside).toHaveBeenCalledTimes(2);
});
