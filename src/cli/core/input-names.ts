/** Forms of values by the types of JSON Schema. */
const FORMS: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

/**
 * Rewords a fault of inputs, which this machine's service reports as paths in the request: `the input age must be a whole
 * number`. Changes the error itself, because callers tell errors apart by their class.
 */
export function withInputNames(error: unknown): unknown {
  if (error instanceof Error) error.message = reworded(error.message);
  return error;
}

function reworded(message: string): string {
  return message
    .replace(/(?<=^|; )inputs\.textInputs\.(?=\S+ )/gu, 'the input ')
    .replace(
      /(?<=the input \S+ must be )(\w+)(?: or null)?(?=$|;)/gu,
      (whole, type: string) => FORMS[type] ?? whole,
    );
}
