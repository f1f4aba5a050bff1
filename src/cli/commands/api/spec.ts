import type { CommandSpec } from '../../core/command-spec.ts';

export const API = {
  path: 'api',
  summary: 'call any endpoint with your key and print the raw answer',
  arguments: [
    [
      '<method>',
      'GET, POST, PUT, PATCH or DELETE',
      { completes: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] },
    ],
    [
      '<path>',
      'a path below the base URL, such as /runs',
      { completes: ['/runs', '/resources', '/me', '/me/credits', '/prompts/publish'] },
    ],
  ],
  flags: [
    [
      '-f, --field <key=value>',
      'add a query parameter or a field of the body; repeatable',
      { repeats: true },
    ],
    ['--input <file>', 'send this file as the body; - for standard input'],
    ['--include', "also print the answer's status and headers"],
    ['--paginate', 'fetch all pages of a list'],
  ],
  examples: [
    'api GET /runs -f limit=50 -f status=failed',
    'api GET /runs -f limit=50 --paginate --query "data.rows[].runId"',
    'api POST /runs --input run.json',
  ],
  notes: `With GET and DELETE, fields become query parameters; with other methods, they become fields of a JSON body. a[b]=c makes \
an object a with a field b. --paginate prints one envelope per page. Error answers are also printed unchanged, and the \
command exits with the code of the error.`,
} as const satisfies CommandSpec;
