import { parseModelsFile } from '../../../src/models/catalogue/read-models-file.ts';
import type { ModelEntry } from '../../../src/models/model-entry.ts';

/** Returns `declared-model`, the only model of a models file in a folder; throws its faults. */
export function parseDeclaredModel(entry: object, folder = '/models'): ModelEntry {
  const text = JSON.stringify({
    models: [{ model: 'declared-model', modality: 'text', ...entry }],
  });
  const { models, faults } = parseModelsFile(text, `${folder}/models.yaml`, []);
  const [model] = models;
  if (!model) throw new Error(faults.join('\n'));
  return model;
}
