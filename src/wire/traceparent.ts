/** The header of W3C Trace Context; in capitals it is the name of the environment variable. */
export const TRACEPARENT_HEADER = 'traceparent';

/**
 * Matches a `traceparent`: version, trace id, span id and flags, such as
 * `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. Ids are not all zeros, and only versions
 * above 00 may have more fields.
 */
const TRACEPARENT =
  /^(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-[\x21-\x7e]{1,200})?$/;

/** Returns the value of a header if it is a `traceparent`, else undefined. */
export function parseTraceparent(
  value: string | readonly string[] | undefined,
): string | undefined {
  return typeof value === 'string' && TRACEPARENT.test(value) ? value : undefined;
}
