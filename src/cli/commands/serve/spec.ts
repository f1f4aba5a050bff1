import type { CommandSpec } from '../../core/command-spec.ts';
import { DATABASE_FLAG } from '../../core/shared-flags.ts';

export const SERVE = {
  path: 'serve',
  summary: 'offer the local service over HTTP',
  flags: [
    ['--host <host>', 'the address to listen on', { default: '127.0.0.1' }],
    ['--port <port>', 'the port to listen on; 0 picks a free one', { default: '8787' }],
    ['--sync-window <duration>', 'how long a creation is kept waiting for its run', { default: '120s' }],
    ['--prompts <dir>', 'publish the prompt files there, again on each change'],
    ['--rate-limit <n>', 'requests a second for each key; none without it'],
    ['--max-queued <n>', 'runs of one user that may be queued; over it 429', { default: '10000' }],
    DATABASE_FLAG,
    ['--media-dir <dir>', 'with --database: keep media in a directory that all instances share'],
    ['--media <url>', 'keep media in an object store that speaks S3, at s3://bucket/prefix'],
    ['--new-store', 'put the store aside, and begin a new one beside it'],
    ['--public-url <url>', 'where others reach it: media URLs begin with it'],
    ['--hide-templates', 'show the templates of prompts to the user local alone'],
    ['--no-rerun', 'fail runs that a dead process had begun, instead of running them once more'],
    ['--allow-programs', 'run programs that models.yaml declares even if there are several users'],
    ['--grace <duration>', 'how long running runs are given at the end', { default: '10s' }],
    [
      '--drain <duration>',
      'how long requests are still taken at the end, /readyz says no',
      { default: '0s' },
    ],
    ['--metrics <host:port>', 'serve GET /metrics for Prometheus there, without a key'],
    ['--no-page', 'leave out the page for people at the root'],
  ],
  examples: [
    'serve',
    'serve --port 0 --prompts ./prompts --rate-limit 5',
    'serve --host 0.0.0.0 --public-url https://prompts.example/team',
    'serve --metrics 127.0.0.1:9464',
  ],
  notes: `The first line on standard output is "listening on http://…/v1"; the first start \
prints a key as well. SIGTERM and Ctrl-C: for --drain \
/readyz answers 503 and all else goes on; then no new requests, running runs are given \
--grace, the rest go on at the next start; with --no-rerun they have failed, since \
a second bill may be worse than a lost answer.

Limits of a user: 10,000 queued runs (--max-queued; over it 429), 2 GiB of media \
(507), 10 keys. Of a request: 64 MiB, a picture 20 MiB (413), 100,000 values. \
Of a prompt: 128 KiB, 1,000 fields; a render 1,000,000 loop turns, 8 MiB, 2 s. \
Of the service: 256 MiB of requests in memory (429), 4,096 connections.`,
} as const satisfies CommandSpec;
