/** Modalities of a model. */
export const MODALITIES = ['text', 'image', 'video'] as const;
export type Modality = (typeof MODALITIES)[number];

/** A run option of a model and the values it accepts. */
export interface RunOption {
  key: string;
  options: string[];
}

/** A model and the run options it accepts. */
export interface Model {
  model: string;
  modality: Modality;
  /** Empty if the model has no options. */
  availableRunOptions: RunOption[];
}

/** The models of a service and the hash of them. */
export interface Resources {
  /** Base64url-encoded content hash; changes when the models change. */
  hash: string;
  resources: { models: Model[] };
}

/** Who a key belongs to. */
export interface Account {
  username: string | null;
  displayName: string | null;
  userFlags: number;
}

/** What is left to spend. */
export interface CreditBalance {
  credits: number;
}
