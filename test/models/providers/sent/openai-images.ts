// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { OpenAiImage, SentRequests } from '../wire-types.ts';

export default {
  "gpt-image-1: a picture": {
    url: "https://api.openai.com/v1/images/generations",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: { model: "gpt-image-1", prompt: "A house", n: 1, size: "1536x1024" },
    warnings: [],
  },
  "gpt-image-1: a picture that is changed": {
    url: "https://api.openai.com/v1/images/edits",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-openai",
      "content-type": "multipart/form-data; boundary=*",
    },
    body: { model: "gpt-image-1", prompt: "Brighter: ", image: "blob", n: "1" },
    warnings: [],
  },
  "gpt-image-1: keys of its own": {
    url: "https://api.openai.com/v1/images/generations",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: { model: "gpt-image-1", prompt: "A house", n: 1, quality: "high" },
    warnings: [],
  },
} satisfies SentRequests<OpenAiImage>;
