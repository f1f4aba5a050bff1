/** Plans a user may have; `none` is answered 402. */
export const PLANS = ['pro', 'none'] as const;
export type Plan = (typeof PLANS)[number];

/** Who a request comes from. */
export interface Caller {
  keyId: string;
  userId: number;
  userName: string;
  plan: Plan;
  /** Whether the key is an author's, who may publish. */
  author: boolean;
}

/** The id of the key that is in no store. */
export const SESSION_KEY_ID = 'session';

/** The user of a key that names none. */
export const LOCAL_USER = 'local';
