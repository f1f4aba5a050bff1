import { badRequest } from './api-error.ts';
import type { Route } from './route.ts';

/** The route of a request and its path parameters. */
export interface RouteMatch<S> {
  readonly route: Route<S>;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Finds the first route that matches a request. HEAD is answered like GET, without the body.
 *
 * @throws {ApiError} BAD_REQUEST_ERROR for a path that is not valid in a URL
 */
export function createRouter<S>(
  routes: readonly Route<S>[],
): (method: string, path: string) => RouteMatch<S> | undefined {
  const table = routes.map(route => ({ route, routeSegments: route.path.split('/') }));
  return (method, path) => {
    const routeMethod = method === 'HEAD' ? 'GET' : method;
    const segments = path.split('/').map(decodeSegment);
    const match = table.find(
      ({ route, routeSegments }) =>
        route.method === routeMethod && matchesPath(routeSegments, segments),
    );
    return match && { route: match.route, params: readParams(match.routeSegments, segments) };
  };
}

function matchesPath(routeSegments: readonly string[], segments: readonly string[]): boolean {
  if (routeSegments.length !== segments.length) return false;
  return routeSegments.every((routeSegment, index) =>
    routeSegment.startsWith(':') ? segments[index] !== '' : routeSegment === segments[index],
  );
}

function readParams(
  routeSegments: readonly string[],
  segments: readonly string[],
): Record<string, string> {
  const entries = routeSegments.flatMap((routeSegment, index) =>
    routeSegment.startsWith(':') ? [[routeSegment.slice(1), segments[index] ?? ''] as const] : [],
  );
  return Object.fromEntries(entries);
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badRequest('the path is not a valid URL');
  }
}
