/** The plans of users; requests of a user with `none` get 402. */
export const PLANS = ['pro', 'none'] as const;
export type UserPlan = (typeof PLANS)[number];

/** The user and key of a request. */
export interface Caller {
  keyId: string;
  userId: number;
  userName: string;
  plan: UserPlan;
  /** True if the key belongs to an author, who may publish. */
  isAuthor: boolean;
}

/** The id of the embedded service's key, which is not stored. */
export const SESSION_KEY_ID = 'session';

/** The user of keys that name none. */
export const LOCAL_USER = 'local';
