import type { Compilable, CompiledQuery, DialectAdapter, QueryResult } from 'kysely';
import type { Db } from './writer.ts';

/** Names a value of a query. */
export type ValueOf<V> = <K extends keyof V & string>(name: K) => V[K];

/** Stands for a value in a query that is compiled without it. */
class QueryPlaceholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/**
 * A query that is compiled once for each opened database, because compiling takes longer than
 * running it.
 */
export class PreparedQuery<V, R> {
  readonly #build: (db: Db, value: ValueOf<V>) => Compilable<R>;
  readonly #compiled = new WeakMap<DialectAdapter, CompiledQuery<R>>();

  /** @param build builds the query with `value('name')` for each value */
  constructor(build: (db: Db, value: ValueOf<V>) => Compilable<R>) {
    this.#build = build;
  }

  async run(db: Db, values: V): Promise<QueryResult<R>> {
    const compiled = this.#compile(db);
    const parameters = compiled.parameters.map(parameter =>
      parameter instanceof QueryPlaceholder ? values[parameter.name as keyof V] : parameter,
    );
    return await db.executeQuery<R>({ ...compiled, parameters });
  }

  async findFirst(db: Db, values: V): Promise<R | undefined> {
    const { rows } = await this.run(db, values);
    return rows[0];
  }

  #compile(db: Db): CompiledQuery<R> {
    const { adapter } = db.getExecutor();
    const cached = this.#compiled.get(adapter);
    if (cached) return cached;
    // Kysely passes on what it is given as a parameter, whatever its type.
    const compiled = this.#build(db, name => new QueryPlaceholder(name) as never).compile();
    this.#compiled.set(adapter, compiled);
    return compiled;
  }
}
