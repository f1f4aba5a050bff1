import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import path from 'node:path';
import { MEDIA_LIFETIME_MS } from '../../wire/index.ts';
import type { Clock } from '../core/clock.ts';
import type { Store } from '../store/store.ts';
import { type MediaOutput, mediaFileName } from './media.ts';

/** The path that media is served under. */
export const MEDIA_PATH = '/media';

/** URLs of media that need no key, whose parts can't be altered, and that live 24 hours. */
export type SignedUrls = Awaited<ReturnType<typeof openSignedUrls>>;

/** The same secret signs in every process of a store, now and after a restart. */
export async function openSignedUrls(store: Store, clock: Clock) {
  const made = await store.settings.once('mediaSecret', () => randomBytes(32).toString('base64url'));
  const sign = (file: string, expires: string): string =>
    createHmac('sha256', made.value).update(`${file}\n${expires}`).digest('base64url');
  return {
    /** The path and query of an output's URL; good until 24 hours after it was made. */
    pathOf(output: MediaOutput): string {
      const file = mediaFileName({ id: output.media, mediaType: output.mediaType });
      const expires = String(Math.floor((output.createdAt + MEDIA_LIFETIME_MS) / 1000));
      return `${MEDIA_PATH}/${file}?expires=${expires}&signature=${sign(file, expires)}`;
    },
    /** The id of the media that a path's parts lead to, or why they lead nowhere. */
    mediaIdOf(file: string, expires: string, signature: string): { id: string } | 'forged' | 'expired' {
      if (!isSameSecret(signature, sign(file, expires))) return 'forged';
      if (clock.now() >= Number(expires) * 1000) return 'expired';
      return { id: path.parse(file).name };
    },
  };
}

/** Whether two secrets are the same, in a time that doesn't depend on how much of one was guessed. */
function isSameSecret(signature: string, valid: string): boolean {
  const [a, b] = [Buffer.from(signature), Buffer.from(valid)];
  return a.length === b.length && timingSafeEqual(a, b);
}
