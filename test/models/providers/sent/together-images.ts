// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { OpenAiImage, SentRequests } from '../wire-types.ts';

export default {
  "black-forest-labs/FLUX.1-schnell: a picture": {
    url: "https://api.together.xyz/v1/images/generations",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-together",
      "content-type": "application/json",
    },
    body: { model: "black-forest-labs/FLUX.1-schnell", prompt: "A house", n: 1, size: "1536x1024" },
    warnings: [],
  },
  "black-forest-labs/FLUX.1-schnell: a picture that is changed": {
    url: "https://api.together.xyz/v1/images/edits",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-together",
      "content-type": "multipart/form-data; boundary=*",
    },
    body: { model: "black-forest-labs/FLUX.1-schnell", prompt: "Brighter: ", image: "blob", n: "1" },
    warnings: [],
  },
} satisfies SentRequests<OpenAiImage>;
