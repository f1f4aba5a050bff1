// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { OpenAiImage, SentRequests } from '../wire-types.ts';

export default {
  "gpt-image-1: a picture": {
    url: "https://ada.openai.azure.com/openai/v1/images/generations",
    headers: { "user-agent": "promptrun/*", "api-key": "key-of-azure", "content-type": "application/json" },
    body: { model: "gpt-image-1", prompt: "A house", n: 1, size: "1536x1024" },
    warnings: [],
  },
  "gpt-image-1: a picture that is changed": {
    url: "https://ada.openai.azure.com/openai/v1/images/edits",
    headers: {
      "user-agent": "promptrun/*",
      "api-key": "key-of-azure",
      "content-type": "multipart/form-data; boundary=*",
    },
    body: { model: "gpt-image-1", prompt: "Brighter: ", image: "blob", n: "1" },
    warnings: [],
  },
} satisfies SentRequests<OpenAiImage>;
