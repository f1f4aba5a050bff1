import type { Compilable, CompiledQuery, Kysely, QueryResult } from 'kysely';
import type { Tables } from './tables.ts';

/** What runs queries: the database or a transaction on it. */
export type Db = Kysely<Tables>;

/** Stands for a value that is bound later. */
class Slot {
  constructor(readonly name: string) {}
}

/** A query built and compiled once; each call binds its values and runs it. */
export type Prepared<V, R> = (db: Db, values: V) => Promise<QueryResult<R>>;

/** `build` gets a stand-in for each value, to be used where the value would stand; it is called at the first use. */
export function prepared<V extends object>() {
  return <R>(db: Db, build: (db: Db, values: V) => Compilable<R>): Prepared<V, R> => {
    const slots = new Proxy({} as V, { get: (_, name) => new Slot(String(name)) });
    let compiled: CompiledQuery<R> | undefined;
    return (executor, values) => {
      compiled ??= build(db, slots).compile();
      return executor.executeQuery(bind(compiled, values));
    };
  };
}

function bind<R>(compiled: CompiledQuery<R>, values: object): CompiledQuery<R> {
  const parameters = compiled.parameters.map(value =>
    value instanceof Slot ? (values as Record<string, unknown>)[value.name] : value,
  );
  return { ...compiled, parameters };
}

/** Runs writes, each in a transaction that is on disk before it is answered. */
export interface Writer {
  /** `run` does nothing but queries, and may be run again where the database could not carry it out. */
  write<T>(run: (db: Db) => Promise<T>): Promise<T>;
  /** Resolves once nothing is left to write. */
  idle(): Promise<void>;
}
