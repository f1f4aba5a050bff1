import { badRequest } from './api-error.ts';
import type { AnyRoute } from './route.ts';

/** The route of a request, and what its path says. */
export interface Match {
  readonly route: AnyRoute;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds routes; HEAD is answered as GET, without the body. Throws BAD_REQUEST_ERROR for a path that is not a URL's. */
export function router(routes: readonly AnyRoute[]): (method: string, path: string) => Match | undefined {
  const fixed = new Map<string, AnyRoute>();
  const patterns: { route: AnyRoute; steps: readonly string[] }[] = [];
  for (const route of routes) {
    if (route.path.includes(':')) patterns.push({ route, steps: route.path.split('/') });
    else fixed.set(`${route.method} ${route.path}`, route);
  }
  return (method, path) => {
    const wanted = method === 'HEAD' ? 'GET' : method;
    const route = fixed.get(`${wanted} ${path}`);
    if (route) return { route, params: {} };
    const given = path.split('/').map(decoded);
    const found = patterns.find(({ route, steps }) => route.method === wanted && fits(steps, given));
    return found && { route: found.route, params: paramsOf(found.steps, given) };
  };
}

function fits(steps: readonly string[], given: readonly string[]): boolean {
  if (steps.length !== given.length) return false;
  return steps.every((step, index) => (step.startsWith(':') ? given[index] !== '' : step === given[index]));
}

function paramsOf(steps: readonly string[], given: readonly string[]): Record<string, string> {
  const entries = steps.flatMap((step, index) =>
    step.startsWith(':') ? [[step.slice(1), given[index] ?? ''] as const] : [],
  );
  return Object.fromEntries(entries);
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    throw badRequest('the path is not a valid URL');
  }
}
