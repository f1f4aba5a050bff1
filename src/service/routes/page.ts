import { readBuiltText } from '../../files/installed/installed-file.ts';
import { type AnyRoute, defineRoute } from './services.ts';

/** Allows files of this service only, and `data:` for the input images of runs. */
const CONTENT_SECURITY_POLICY = [
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

const PAGE_FILES = [
  { path: '/', file: 'index.html', type: 'text/html' },
  { path: '/page.js', file: 'page.js', type: 'text/javascript' },
  { path: '/page.css', file: 'page.css', type: 'text/css' },
] as const;

/**
 * The files of the web page. They need no key, because the page sends the user's key with its
 * requests.
 */
export const pageRoutes: readonly AnyRoute[] = PAGE_FILES.map(({ path, file, type }) => {
  let content: string | undefined;
  return defineRoute({
    method: 'GET',
    path,
    id: `getPage${file.replace(/\W/gu, '')}`,
    tag: 'Page',
    summary: 'Get a file of the web page',
    description: 'The page shows runs, prompts and usage in a browser.',
    errors: [],
    async handle() {
      content ??= readBuiltText(`page/${file}`);
      return {
        httpStatus: 200,
        headers: {
          'content-type': `${type}; charset=utf-8`,
          'content-security-policy': CONTENT_SECURITY_POLICY,
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
