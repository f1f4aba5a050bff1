import type { Interface } from '../provider/engine.ts';
import { ask, readChat } from './chat.ts';
import { connect } from './client.ts';
import { draw } from './draw.ts';

/** OpenAI's interface: models that chat, and models that draw. */
export const OPENAI: Interface = {
  async speak(job, access, answer) {
    const client = await connect(access);
    return job.model.modality === 'image'
      ? await draw(client, job, access)
      : await ask(client, job, access, answer);
  },
  read: readChat,
};
