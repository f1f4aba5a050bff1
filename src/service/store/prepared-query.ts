import type { Compilable, CompiledQuery, DialectAdapter, QueryResult } from 'kysely';
import type { Db } from './writer.ts';

/** Stands for the value of a query with this name, which is known only when the query is run. */
export type ValueOf<V> = <K extends keyof V & string>(name: K) => V[K];

/** The placeholder of a value in a compiled query. */
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
  readonly #compiledQueries = new WeakMap<DialectAdapter, CompiledQuery<R>>();

  /** @param build builds the query with `value('name')` for each value */
  constructor(build: (db: Db, value: ValueOf<V>) => Compilable<R>) {
    this.#build = build;
  }

  /** Runs the query with these values for its placeholders. */
  async run(db: Db, values: V): Promise<QueryResult<R>> {
    const compiledQuery = this.#compile(db);
    const parameters = compiledQuery.parameters.map(parameter =>
      parameter instanceof QueryPlaceholder ? values[parameter.name as keyof V] : parameter,
    );
    return await db.executeQuery<R>({ ...compiledQuery, parameters });
  }

  /** Runs the query and returns its first row; undefined if there is none. */
  async findFirst(db: Db, values: V): Promise<R | undefined> {
    const { rows } = await this.run(db, values);
    return rows[0];
  }

  #compile(db: Db): CompiledQuery<R> {
    const { adapter } = db.getExecutor();
    const cachedQuery = this.#compiledQueries.get(adapter);
    if (cachedQuery) return cachedQuery;
    // Kysely passes parameters on unread, so a placeholder may stand for a value of any type.
    const compiled = this.#build(db, name => new QueryPlaceholder(name) as never).compile();
    this.#compiledQueries.set(adapter, compiled);
    return compiled;
  }
}
