/**
 * Adds what code expects of every engine: a console that prints nothing, copies of data, and
 * microtasks. The engine for untrusted JavaScript, which has nothing but the language itself, runs
 * the source of this function; so the function refers to nothing outside itself.
 */
export function addEngineGlobals(): void {
  const createEmptyCopy = (value: object): object => {
    if (value instanceof Date) return new Date(value);
    if (value instanceof RegExp) return new RegExp(value);
    if (value instanceof Map) return new Map();
    if (value instanceof Set) return new Set();
    if (!Array.isArray(value)) return {};

    const list: unknown[] = [];
    list.length = value.length;
    return list;
  };

  const copyDeeply = (value: unknown, copies: Map<object, object>): unknown => {
    if (typeof value === 'function' || typeof value === 'symbol') {
      throw new TypeError('a function could not be cloned');
    }

    if (typeof value !== 'object' || value === null) return value;

    const existingCopy = copies.get(value);
    if (existingCopy !== undefined) return existingCopy;

    const copy = createEmptyCopy(value);
    copies.set(value, copy);

    if (value instanceof Map) {
      for (const [key, entry] of value) {
        (copy as typeof value).set(copyDeeply(key, copies), copyDeeply(entry, copies));
      }
    } else if (value instanceof Set) {
      for (const member of value) (copy as typeof value).add(copyDeeply(member, copies));
    } else if (!(value instanceof Date || value instanceof RegExp)) {
      for (const [key, field] of Object.entries(value)) {
        Object.assign(copy, { [key]: copyDeeply(field, copies) });
      }
    }

    return copy;
  };

  Object.assign(globalThis, {
    console: new Proxy({}, { get: () => () => undefined }),
    structuredClone: (value: unknown) => copyDeeply(value, new Map()),
    queueMicrotask: (task: () => unknown) => void Promise.resolve().then(task),
  });
}
