/** A database URL that is not PostgreSQL's. The message says what one looks like, and never repeats it. */
export class DatabaseUrlError extends Error {
  override readonly name = 'DatabaseUrlError';
}

/** The database can't be reached, or not at present. The message holds no password. */
export class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseUnavailableError';
}
