import { describe, expect, test } from 'vitest';
import { signRequest } from './object-store.ts';

/**
 * The key of AWS' published examples, "Authenticating Requests: Using the Authorization Header".
 */
const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

function signExample(method: string, target: string, extra: Record<string, string> = {}) {
  const headers: Record<string, string> = {
    host: 'examplebucket.s3.amazonaws.com',
    'x-amz-date': '20130524T000000Z',
    'x-amz-content-sha256': EMPTY,
    ...extra,
  };
  const names = Object.keys(headers).sort().join(';');
  const scope = 'AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request';
  const authorization = `AWS4-HMAC-SHA256 Credential=${scope},SignedHeaders=${names},Signature=`;

  return { method, target, headers: { ...headers, authorization } };
}

describe("the object store of the tests signs as AWS' examples", () => {
  test.each([
    [
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
      signExample('GET', '/test.txt', { range: 'bytes=0-9' }),
    ],
    [
      '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
      signExample('PUT', '/test%24file.text', {
        date: 'Fri, 24 May 2013 00:00:00 GMT',
        'x-amz-storage-class': 'REDUCED_REDUNDANCY',
        'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
      }),
    ],
    [
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
      signExample('GET', '/?lifecycle'),
    ],
    [
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
      signExample('GET', '/?max-keys=2&prefix=J'),
    ],
  ])('%s', (signature, request) => {
    expect(signRequest(request, SECRET)).toBe(signature);
  });
});
