import { builtText } from '../../files/installed-file.ts';
import { type AnyRoute, route } from './route.ts';

/** Nothing but what this service hands out itself; `data:` is for pictures that a run was given. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "media-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const FILES = [
  { path: '/', file: 'index.html', type: 'text/html' },
  { path: '/page.js', file: 'page.js', type: 'text/javascript' },
  { path: '/page.css', file: 'page.css', type: 'text/css' },
] as const;

/** The page for people. It asks the interface with the key of whoever signs in, so its files need none. */
export const pageRoutes: readonly AnyRoute[] = FILES.map(({ path, file, type }) => {
  let content: string | undefined;
  return route({
    method: 'GET',
    path,
    id: `getPage${file.replace(/\W/gu, '')}`,
    tag: 'Page',
    summary: 'The page for people',
    description: 'Runs, prompts and usage in a browser.',
    errors: [],
    async handle() {
      content ??= builtText(`page/${file}`);
      return {
        httpStatus: 200,
        headers: {
          'content-type': `${type}; charset=utf-8`,
          'content-security-policy': POLICY,
          'x-content-type-options': 'nosniff',
          'x-frame-options': 'DENY',
          'referrer-policy': 'no-referrer',
          'cross-origin-opener-policy': 'same-origin',
          'cross-origin-resource-policy': 'same-origin',
          'cache-control': 'no-cache',
        },
        body: content,
      };
    },
  });
});
