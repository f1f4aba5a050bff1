import type { YamlEntries, YamlValue } from '../../../files/formats/yaml.ts';
import { isJsonObject } from '../../../utils/bounded-json.ts';
import type { ReadingContext } from './reading-context.ts';
import { readTransform } from './shared-fields.ts';
import type { TestedModel } from './test-case.ts';
import { readMapFields, requireText, testFileError } from './test-values.ts';

const MODEL_KEYS = ['model', 'config', 'transform'];

/** The key of models that are programs of promptfoo, whose answers are whole results. */
const GIVES_RESULTS_KEY = 'givesResults';

/** Keys of models in a configuration of promptfoo, whose prompts may be for some labels only. */
const PROMPTFOO_MODEL_KEYS = [...MODEL_KEYS, GIVES_RESULTS_KEY, 'label'];

/** Reads the models that a test file names; the prompt's own if it names none. */
export async function readTestedModels(
  ctx: ReadingContext,
  fields: YamlEntries,
): Promise<readonly TestedModel[]> {
  const modelField = fields.get('model');
  const modelsField = fields.get('models');
  if (modelField && modelsField) {
    throw testFileError(modelsField, 'model and models are both set: keep one');
  }

  if (modelField) return [{ model: requireText(modelField.value, 'model') }];
  if (modelsField === undefined) return [{ model: undefined }];

  const models = new Map<string, TestedModel>();
  for (const [index, value] of modelsField.value.readItems('models').entries()) {
    // promptfoo tests equal providers separately.
    const key = JSON.stringify(ctx.isAsPromptfoo ? [value.toJson(), index] : value.toJson());
    models.set(key, await readTestedModel(ctx, value));
  }

  if (models.size === 0) throw testFileError(modelsField, 'models is empty');
  return numberEqualModels([...models.values()]);
}

async function readTestedModel(ctx: ReadingContext, value: YamlValue): Promise<TestedModel> {
  if (!value.isMap) return { model: requireText(value, 'a model') };

  const fields = readMapFields(
    value,
    'a model',
    ctx.isAsPromptfoo ? PROMPTFOO_MODEL_KEYS : MODEL_KEYS,
  );
  const model = fields.get('model');
  if (model === undefined) throw testFileError(value, 'a model needs `model`');

  const config = fields.get('config');
  const settings = config?.value.toJson();
  if (config && !isJsonObject(settings)) {
    throw testFileError(config, 'config must be a map of keys to values');
  }

  return {
    model: requireText(model.value, 'model'),
    ...(isJsonObject(settings) && { config: settings }),
    ...(await readTransform(ctx, fields)),
    givesResults: fields.has(GIVES_RESULTS_KEY),
  };
}

/** Numbers models that have the same name but different configs. */
function numberEqualModels(models: readonly TestedModel[]): TestedModel[] {
  return models.map((entry, index) => {
    const earlierModels = models.slice(0, index).filter(({ model }) => model === entry.model);
    return earlierModels.length === 0 ? entry : { ...entry, number: earlierModels.length + 1 };
  });
}
