import { findOutgoingProxy } from '../../../models/outgoing/proxy.ts';
import type { Env } from '../../../utils/env.ts';
import { withoutTrailingSlashes } from '../../../wire/addresses.ts';
import { MediaUrlError } from '../store-errors.ts';

/** A place in an S3-compatible object store, from `--media` and the environment. */
export interface BucketLocation {
  /** Bucket and prefix as a URL for messages, without the store's address. */
  readonly name: string;
  /** The URL to which keys are appended, without a trailing slash. */
  readonly bucketUrl: string;
  /** The prefix of keys: empty, or with a trailing slash. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
  readonly proxy: URL | undefined;
}

/** Matches a bucket and the path after it, such as `s3://my.bucket/team/media`. */
const BUCKET_URL = /^s3:\/\/([a-z0-9](?:[\w.-]{0,61}[a-z0-9])?)((?:\/[\w.=-]+)*)\/?$/i;

/** The region that self-hosted stores accept by default. */
const DEFAULT_REGION = 'us-east-1';

/**
 * Reads `s3://bucket/prefix` with the variables of the AWS tools.
 *
 * @throws {MediaUrlError} if it has another form or a variable is missing; the message repeats no
 * value of a variable
 */
export function parseMediaUrl(text: string, env: Env): BucketLocation {
  const { bucket, path } = parseBucketUrl(text);
  const region = env['AWS_REGION'] || undefined;
  const endpoint = readEndpoint(env);
  if (endpoint === undefined && region === undefined) {
    throw new MediaUrlError(
      '--media needs AWS_REGION, or AWS_ENDPOINT_URL_S3 for a store that is not at AWS; set one',
    );
  }

  const credentials = readCredentials(env);
  const bucketUrl =
    endpoint === undefined
      ? buildAwsBucketUrl(bucket, region ?? DEFAULT_REGION)
      : `${endpoint}/${bucket}`;

  return {
    name: `s3://${bucket}${path}`,
    bucketUrl,
    prefix: path === '' ? '' : `${path.slice(1)}/`,
    region: region ?? DEFAULT_REGION,
    ...credentials,
    proxy: findOutgoingProxy(new URL(bucketUrl), env),
  };
}

/** Returns the bucket of `s3://bucket/prefix`, and the path after it. */
function parseBucketUrl(text: string): { readonly bucket: string; readonly path: string } {
  const [, bucket, path = ''] = BUCKET_URL.exec(text) ?? [];
  if (bucket === undefined || /\.\.|\/\.(?:\/|$)/.test(`${bucket}${path}`)) {
    throw new MediaUrlError(
      '--media is not a place in an object store; it looks like s3://bucket/prefix, of letters, digits and - _ . =',
    );
  }

  if (bucket.length < 3) {
    throw new MediaUrlError(
      `--media: the name of the bucket, ${bucket}, is too short; it has at least 3 characters`,
    );
  }

  return { bucket, path };
}

function readCredentials(
  env: Env,
): Pick<BucketLocation, 'accessKeyId' | 'secretAccessKey' | 'sessionToken'> {
  const accessKeyId = env['AWS_ACCESS_KEY_ID'];
  const secretAccessKey = env['AWS_SECRET_ACCESS_KEY'];
  if (!accessKeyId || !secretAccessKey) {
    throw new MediaUrlError(
      '--media needs the key of the object store; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    );
  }

  return { accessKeyId, secretAccessKey, sessionToken: env['AWS_SESSION_TOKEN'] || undefined };
}

/**
 * Returns the URL of a bucket at AWS. A dotted name goes into the path, because the certificate
 * covers one label only.
 */
function buildAwsBucketUrl(bucket: string, region: string): string {
  if (!/^[a-z0-9-]+$/.test(region)) {
    throw new MediaUrlError('AWS_REGION is not a region such as eu-central-1');
  }
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  return bucket.includes('.') ? `https://${host}/${bucket}` : `https://${bucket}.${host}`;
}

/** Returns the address of a store outside AWS; undefined if none is set. */
function readEndpoint(env: Env): string | undefined {
  const name = env['AWS_ENDPOINT_URL_S3'] ? 'AWS_ENDPOINT_URL_S3' : 'AWS_ENDPOINT_URL';
  const text = env[name];
  if (!text) return undefined;

  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlainUrl =
    url &&
    /^https?:$/.test(url.protocol) &&
    !url.username &&
    !url.password &&
    !url.search &&
    !url.hash;
  if (!isPlainUrl) {
    throw new MediaUrlError(
      `${name} is not the URL of an object store, such as https://storage.example.com`,
    );
  }

  return withoutTrailingSlashes(url.href);
}
