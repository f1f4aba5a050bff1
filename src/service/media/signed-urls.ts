import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import path from 'node:path';
import { MEDIA_LIFETIME_MS } from '../../wire/index.ts';
import type { Clock } from '../core/clock.ts';
import type { Store } from '../store/store.ts';
import { formatMediaFileName, type MediaOutput } from './media.ts';

export const MEDIA_PATH = '/media';

/** Signed URLs of media, which need no key and are valid for 24 hours. */
export type SignedUrls = Awaited<ReturnType<typeof createSignedUrls>>;

/**
 * Returns a signer with the secret of the store, so that URLs stay valid in other processes and
 * after a restart.
 */
export async function createSignedUrls(store: Store, clock: Clock) {
  const secret = await store.settings.getOrCreate('mediaSecret', () =>
    randomBytes(32).toString('base64url'),
  );
  const sign = (fileName: string, expires: string): string =>
    createHmac('sha256', secret.value).update(`${fileName}\n${expires}`).digest('base64url');
  return {
    /**
     * Returns the path and query of an output's URL, valid until 24 hours after the output was
     * made.
     */
    createSignedPath(output: MediaOutput): string {
      const fileName = formatMediaFileName({ id: output.media, mediaType: output.mediaType });
      const expires = String(Math.floor((output.createdAt + MEDIA_LIFETIME_MS) / 1000));
      return `${MEDIA_PATH}/${fileName}?expires=${expires}&signature=${sign(fileName, expires)}`;
    },
    /** Returns the id of the media that a URL names, or why the URL is invalid. */
    verifyPath(
      fileName: string,
      expires: string,
      signature: string,
    ): { id: string } | 'forged' | 'expired' {
      if (!isSameSignature(signature, sign(fileName, expires))) return 'forged';
      if (clock.now() >= Number(expires) * 1000) return 'expired';
      return { id: path.parse(fileName).name };
    },
  };
}

/** Compares two signatures in constant time. */
function isSameSignature(signature: string, expectedSignature: string): boolean {
  const [a, b] = [Buffer.from(signature), Buffer.from(expectedSignature)];
  return a.length === b.length && timingSafeEqual(a, b);
}
