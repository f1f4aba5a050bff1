import type { JsonObject } from '../../../files/json.ts';
import type { YamlValue } from '../../../files/yaml.ts';

/** A model that a configuration runs its prompts with. */
export interface Provider {
  /** By our name. */
  readonly model: string;
  readonly config: JsonObject;
  readonly output?: JsonObject | undefined;
  /** Code that its answers go through before they are checked. */
  readonly transform?: string | undefined;
  /** The entry of a models file, for one that is a program or an address. */
  readonly entry?: JsonObject;
  /** The provider of a models file that it is asked at, by its name. */
  readonly place?: readonly [name: string, provider: JsonObject] | undefined;
  readonly at: YamlValue;
  /** True if it may not be run. */
  readonly isLeftOut?: boolean;
}
