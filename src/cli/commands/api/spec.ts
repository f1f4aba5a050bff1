import type { CommandSpec } from '../../core/command-spec.ts';

export const API = {
  path: 'api',
  summary: 'any endpoint, authenticated, as it answers',
  arguments: [
    ['<method>', 'GET, POST, PUT, PATCH or DELETE', ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']],
    [
      '<path>',
      'below the base URL, such as /runs',
      ['/runs', '/resources', '/me', '/me/credits', '/prompts/publish'],
    ],
  ],
  flags: [
    ['-f, --field <key=value>', 'a query parameter or a field of the body; repeatable', { repeats: true }],
    ['--input <file>', 'send this file as the body; - is standard input'],
    ['--include', "print the answer's status and headers as well"],
    ['--paginate', 'follow a list to its end'],
  ],
  examples: [
    'api GET /runs -f limit=50 -f status=failed',
    "api GET /runs -f limit=50 --paginate --query 'data.rows[].runId'",
    'api POST /runs --input run.json',
  ],
  notes: `Fields become query parameters of GET and DELETE, otherwise fields of a JSON body; a[b]=c makes an object a with a \
field b. --paginate prints one envelope a page. The answer is printed as it came, errors too; the exit code tells them apart.`,
} as const satisfies CommandSpec;
