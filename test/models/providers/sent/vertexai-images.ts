// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { GenerateContent, SentRequests } from '../wire-types.ts';

export default {
  "gemini-2.5-flash-image: a picture": {
    url: "https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-2.5-flash-image:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-vertexai" },
    body: {
      generationConfig: { responseModalities: ["TEXT", "IMAGE"], imageConfig: { aspectRatio: "16:9" } },
      contents: [{ role: "user", parts: [{ text: "A house" }] }],
    },
    warnings: [],
  },
  "gemini-2.5-flash-image: a picture that is changed": {
    url: "https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-2.5-flash-image:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-vertexai" },
    body: {
      generationConfig: { responseModalities: ["TEXT", "IMAGE"] },
      contents: [
        {
          role: "user",
          parts: [
            { text: "Brighter: " },
            {
              inlineData: {
                mimeType: "image/png",
                data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
              },
            },
          ],
        },
      ],
    },
    warnings: [],
  },
} satisfies SentRequests<GenerateContent>;
