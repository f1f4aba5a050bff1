import type { CommandSpec } from '../../core/command-spec.ts';
import { DATABASE_FLAG } from '../../core/shared-flags.ts';

export const SERVE = {
  path: 'serve',
  summary: 'offer the local service over HTTP',
  flags: [
    ['--host <host>', 'the address to listen on', { default: '127.0.0.1' }],
    ['--port <port>', 'the port to listen on; 0 picks a free one', { default: '8787' }],
    [
      '--sync-window <duration>',
      'how long a creation waits for its run to end',
      { default: '120s' },
    ],
    [
      '--prompts <dir>',
      'publish the prompt files in this directory, and again whenever one changes',
    ],
    ['--rate-limit <n>', 'maximum requests per second and key (default: no limit)'],
    [
      '--max-queued <n>',
      'maximum number of queued runs per user; more are refused with 429',
      { default: '10000' },
    ],
    DATABASE_FLAG,
    ['--media-dir <dir>', 'with --database: keep media in a directory that all instances share'],
    ['--media <url>', 'keep media in an object store that speaks S3, at s3://bucket/prefix'],
    ['--new-store', 'move the store aside and start with an empty one'],
    ['--public-url <url>', 'the public address of the service, for media URLs'],
    ['--hide-templates', 'show prompt templates only to the user named local'],
    ['--no-rerun', 'fail runs that a crashed process had started, instead of running them again'],
    ['--allow-programs', 'run the programs of models.yaml even if there are several users'],
    ['--grace <duration>', 'how long to wait for running runs at shutdown', { default: '10s' }],
    [
      '--drain <duration>',
      'how long to accept requests at shutdown while /readyz answers 503',
      { default: '0s' },
    ],
    ['--metrics <host:port>', 'serve GET /metrics for Prometheus at this address, without a key'],
    ['--no-page', 'serve no web page at the root'],
  ],
  examples: [
    'serve',
    'serve --port 0 --prompts ./prompts --rate-limit 5',
    'serve --host 0.0.0.0 --public-url https://prompts.example/team',
    'serve --metrics 127.0.0.1:9464',
  ],
  notes: `The first line on standard output is "listening on http://…/v1"; the first start \
also prints a key.

Shutdown, after SIGTERM or Ctrl-C: for the time of --drain, /readyz answers 503 \
and everything else works. Then no new requests are accepted, and running runs \
get the time of --grace to finish. The others run again at the next start. Use \
--no-rerun to fail them instead, if a second bill is worse than a lost answer.

Limits per user: 10,000 queued runs (--max-queued; more get 429), 2 GiB of media \
(507), 10 keys. Of a request: 64 MiB and 100,000 values (413), a picture 20 MiB (422). \
Of a prompt: 128 KiB, 1,000 fields; a render: 1,000,000 loop iterations, 8 MiB, 2 s. \
Of the service: 256 MiB of requests in memory (429), 4,096 connections.`,
} as const satisfies CommandSpec;
