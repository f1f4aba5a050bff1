/** The kinds of output that models make. */
export const MODALITIES = ['text', 'image', 'video'] as const;
export type Modality = (typeof MODALITIES)[number];

/** A run option of a model and the values that it accepts. */
export interface RunOption {
  key: string;
  options: string[];
}

/** A model and the run options that it accepts. */
export interface Model {
  model: string;
  modality: Modality;
  /** The run options; empty if the model has none. */
  availableRunOptions: RunOption[];
}

/** The models of a service and their hash. */
export interface Resources {
  /** Base64url-encoded hash of the content; changes if the models change. */
  hash: string;
  resources: { models: Model[] };
}

/** The account that a key belongs to. */
export interface Account {
  username: string | null;
  displayName: string | null;
  userFlags: number;
}

/** The credits that are left. */
export interface CreditBalance {
  credits: number;
}
