import type { Db } from './prepared.ts';

/** Runs writes, each in a transaction that is on disk before it is answered. */
export interface Writer {
  /** `run` does nothing but queries, and may be run again where the database could not carry it out. */
  write<T>(run: (db: Db) => Promise<T>): Promise<T>;
  /** Resolves once nothing is left to write. */
  idle(): Promise<void>;
}
