/** Who a key belongs to (service-facts, account). */
export interface Account {
  username: string | null;
  displayName: string | null;
  userFlags: number;
}

/** What is left to spend (service-facts, credit balance). */
export interface CreditBalance {
  credits: number;
}
