import type { Speak } from '../provider/engine.ts';
import { chat } from './chat.ts';
import { connect } from './client.ts';
import { draw } from './draw.ts';

/** Asks a model over OpenAI's interface: one that draws, or one that chats. */
export const speakOpenAi: Speak = async (job, access, answer) => {
  const client = await connect(access);
  return job.model.modality === 'image'
    ? await draw(client, job, access)
    : await chat(client, job, access, answer);
};
