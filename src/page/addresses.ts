/** Returns a URL below that of the page, including a proxy's path prefix. */
export function resolvePageUrl(path: string): URL {
  return new URL(path, document.baseURI);
}

/**
 * Returns the URL of an output's media below that of the page; undefined if it is not the service's
 * own.
 */
export function findMediaUrl(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { pathname, search } = new URL(url);
  const file = /\/(media\/[^/]+)$/u.exec(pathname)?.[1];
  return file === undefined ? undefined : resolvePageUrl(file + search).href;
}
