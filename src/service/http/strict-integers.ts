import type { FastifyRequest } from 'fastify';

/** Reads these query parameters as integers; what is written in any other way stays as it is, to be refused. */
export function strictIntegers(...names: string[]) {
  return async (request: FastifyRequest): Promise<void> => {
    const query = request.query as Record<string, unknown>;
    for (const name of names) {
      const value = query[name];
      if (typeof value === 'string' && /^-?\d{1,15}$/.test(value)) query[name] = Number(value);
    }
  };
}
