import type { InterfaceName, ModelEntry, OptionName } from '../entry.ts';

/** A provider's model, as far as its options depend on it. */
export interface ModelTarget {
  readonly provider: string;
  /** The provider's name of the model. */
  readonly id: string;
  readonly interface: InterfaceName;
  /** As models.yaml has it. */
  readonly reasoning?: boolean | undefined;
}

/** Returns what a model's options depend on; undefined for a model that no provider runs. */
export function targetOf({ model, id = model, provider, reasoning }: ModelEntry): ModelTarget | undefined {
  return provider && { provider: provider.name, id, interface: provider.engine, reasoning };
}

/** Returns the options that a model does not take, and those that models.yaml leaves out. */
export function optionsLeftOut(model: ModelEntry): ReadonlySet<OptionName> {
  const target = targetOf(model);
  return new Set([...(target ? unsupportedOptions(target) : []), ...(model.leaveOut ?? [])]);
}

/** Returns the options that a known model does not take. */
export function unsupportedOptions(_target: ModelTarget): ReadonlySet<OptionName> {
  return new Set();
}

/** Returns a provider's own maximum of an option, if it is lower than the general one. */
export function maximumOf(_target: ModelTarget, _option: OptionName | 'maxOutputTokens'): number | undefined {
  return undefined;
}

/** Returns true for a model that thinks, false for one that does not, undefined if its name does not say. */
export function reasons({ reasoning }: ModelTarget): boolean | undefined {
  return reasoning;
}
