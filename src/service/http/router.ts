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
  const table = routes.map(route => ({ route, steps: route.path.split('/') }));
  return (method, path) => {
    const routeMethod = method === 'HEAD' ? 'GET' : method;
    const segments = path.split('/').map(decodeSegment);
    const match = table.find(
      ({ route, steps }) => route.method === routeMethod && matchesPath(steps, segments),
    );
    return match && { route: match.route, params: readParams(match.steps, segments) };
  };
}

function matchesPath(steps: readonly string[], segments: readonly string[]): boolean {
  if (steps.length !== segments.length) return false;
  return steps.every((step, index) =>
    step.startsWith(':') ? segments[index] !== '' : step === segments[index],
  );
}

function readParams(steps: readonly string[], segments: readonly string[]): Record<string, string> {
  const entries = steps.flatMap((step, index) =>
    step.startsWith(':') ? [[step.slice(1), segments[index] ?? ''] as const] : [],
  );
  return Object.fromEntries(entries);
}

function decodeSegment(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    throw badRequest('the path is not a valid URL');
  }
}
