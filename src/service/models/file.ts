import type { Modality, RunOption } from '../../wire/index.ts';
import {
  FileFault,
  isEmpty,
  parseYaml,
  type YamlEntry,
  type YamlReader,
  type YamlValue,
} from '../yaml-file.ts';
import { RESERVED_NAMES } from './built-in.ts';
import type { ModelEntry, Provider } from './entry.ts';
import { DEFAULT_CREDITS } from './openai.ts';

export const MODELS_FILE = 'models.yaml';

/** A models file that can't be used. The message is `file:line: what`. */
export class InvalidModelsFile extends Error {
  override readonly name = 'InvalidModelsFile';

  constructor(file: string, line: number, what: string) {
    super(`${file}:${line}: ${what}`);
  }
}

/** Reads `models.yaml`; `known` are providers it may name without describing them. Throws InvalidModelsFile. */
export function parseModelsFile(text: string, file: string, known: readonly Provider[]): ModelEntry[] {
  try {
    const { root, read } = parseYaml(text.replace(/^\uFEFF/, ''));
    return new ModelsReader(read).models(root, known);
  } catch (error) {
    if (error instanceof FileFault) throw new InvalidModelsFile(file, error.line, error.what);
    throw error;
  }
}

type Fields = ReadonlyMap<string, YamlEntry>;

class ModelsReader {
  constructor(private readonly read: YamlReader) {}

  models(root: YamlValue, known: readonly Provider[]): ModelEntry[] {
    const top = this.fields(root, 'the file', ['models', 'providers']);
    const described = this.providers(top.get('providers')?.value);
    const providers = new Map([...known, ...described].map(provider => [provider.name, provider]));
    const list = top.get('models')?.value;
    const items = list && !isEmpty(list) ? this.read.items(list, 'models') : [];
    const models = items.map(item => ({ line: item.line, entry: this.model(item, providers) }));
    models.forEach(({ line, entry }, index) => {
      const first = models.findIndex(other => other.entry.model === entry.model);
      if (first < index) throw new FileFault(line, `the model \`${entry.model}\` is described twice`);
    });
    return models.map(({ entry }) => entry);
  }

  private providers(value: YamlValue | undefined): Provider[] {
    return value ? this.read.entries(value, 'providers').map(entry => this.provider(entry)) : [];
  }

  private provider({ key: name, line, value }: YamlEntry): Provider {
    const fields = this.fields(value, `the provider \`${name}\``, ['baseUrl', 'apiKeyEnv']);
    const baseUrl = this.required(fields, 'baseUrl', line, `the provider \`${name}\``);
    const fault = urlFault(baseUrl);
    if (fault !== undefined) throw new FileFault(fields.get('baseUrl')?.value.line ?? line, fault);
    const apiKeyEnv = this.optional(fields, 'apiKeyEnv');
    if (apiKeyEnv !== undefined && !/^[A-Za-z_]\w*$/.test(apiKeyEnv)) {
      throw new FileFault(
        fields.get('apiKeyEnv')?.line ?? line,
        'apiKeyEnv names the environment variable that holds the key; the key itself does not belong in this file',
      );
    }
    return { name, baseUrl, ...(apiKeyEnv === undefined ? {} : { apiKeyEnv }) };
  }

  private model(item: YamlValue, providers: ReadonlyMap<string, Provider>): ModelEntry {
    const fields = this.fields(item, 'a model', [
      'model',
      'modality',
      'provider',
      'id',
      'runOptions',
      'credits',
    ]);
    const model = this.required(fields, 'model', item.line, 'a model');
    if (RESERVED_NAMES.has(model))
      throw new FileFault(item.line, `\`${model}\` is built in: choose another name`);
    const modality = this.modality(fields, item.line, model);
    const id = this.optional(fields, 'id');
    return {
      model,
      modality,
      engine: 'openai-compatible',
      provider: this.knownProvider(fields, item.line, model, providers),
      ...(id === undefined ? {} : { id }),
      runOptions: this.runOptions(fields.get('runOptions')?.value),
      credits: this.credits(fields, modality),
    };
  }

  private modality(fields: Fields, line: number, model: string): Modality {
    const modality = this.required(fields, 'modality', line, `\`${model}\``);
    if (modality === 'text' || modality === 'image') return modality;
    throw new FileFault(
      fields.get('modality')?.line ?? line,
      `the modality of \`${model}\` must be text or image`,
    );
  }

  private knownProvider(
    fields: Fields,
    line: number,
    model: string,
    providers: ReadonlyMap<string, Provider>,
  ): Provider {
    const name = this.required(fields, 'provider', line, `\`${model}\``);
    const provider = providers.get(name);
    if (provider) return provider;
    throw new FileFault(
      fields.get('provider')?.line ?? line,
      `the provider \`${name}\` is not described under providers`,
    );
  }

  private runOptions(value: YamlValue | undefined): RunOption[] {
    const entries = value ? this.read.entries(value, 'runOptions') : [];
    return entries.map(({ key, value, line }) => {
      const options = this.read
        .items(value, `the values of \`${key}\``)
        .map(item => this.read.text(item, `a value of \`${key}\``));
      if (options.length === 0) throw new FileFault(line, `\`${key}\` has no values`);
      return { key, options: [...new Set(options)] };
    });
  }

  private credits(fields: Fields, modality: Modality): number {
    const text = this.optional(fields, 'credits');
    if (text === undefined) return DEFAULT_CREDITS[modality];
    if (/^\d{1,9}$/.test(text)) return Number(text);
    throw new FileFault(fields.get('credits')?.line ?? 1, 'credits must be a whole number, 0 or more');
  }

  private fields(value: YamlValue, name: string, known: readonly string[]): Fields {
    const entries = this.read.entries(value, name);
    const stranger = entries.find(({ key }) => !known.includes(key));
    if (stranger)
      throw new FileFault(
        stranger.line,
        `\`${stranger.key}\` is not known here: ${name} takes ${known.join(', ')}`,
      );
    return new Map(entries.map(entry => [entry.key, entry]));
  }

  private optional(fields: Fields, key: string): string | undefined {
    const entry = fields.get(key);
    return entry && !isEmpty(entry.value) ? this.read.text(entry.value, key) : undefined;
  }

  private required(fields: Fields, key: string, line: number, owner: string): string {
    const text = this.optional(fields, key);
    if (text === undefined || text === '') throw new FileFault(line, `${owner} needs a \`${key}\``);
    return text;
  }
}

function urlFault(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return 'baseUrl must be an http or https URL';
  return url.username === '' && url.password === ''
    ? undefined
    : 'baseUrl can’t carry a user name or password';
}
