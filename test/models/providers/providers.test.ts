import { describe, expect, it } from 'vitest';
import type { Provider } from '../../../src/models/model-entry.ts';
import { findAccessFault } from '../../../src/models/providers/access-fault.ts';
import { listKnownProviders } from '../../../src/models/providers/providers.ts';

type Env = Record<string, string>;

function providerIn(env: Env, name: string): Provider {
  const provider = listKnownProviders(env).find(known => known.name === name);
  if (!provider) throw new Error(`${name} is not known`);
  return provider;
}

const describeProvider = (env: Env, name: string): string => {
  const { interfaceName, baseUrl } = providerIn(env, name);
  return `${interfaceName} ${baseUrl}`;
};

describe('a known provider', () => {
  it.each<[string, Env, string]>([
    ['openai', {}, 'openai-responses https://api.openai.com/v1'],
    [
      'openai',
      { OPENAI_BASE_URL: 'https://eu.api.openai.com/v1/' },
      'openai-responses https://eu.api.openai.com/v1',
    ],
    ['openai', { OPENAI_BASE_URL: 'https://proxy.example/v1' }, 'openai https://proxy.example/v1'],
    [
      'openai',
      { OPENAI_BASE_URL: 'https://api.openai.com.example/v1' },
      'openai https://api.openai.com.example/v1',
    ],
    ['openai', { OPENAI_BASE_URL: 'https://proxy.example' }, 'openai https://proxy.example'],
    ['anthropic', {}, 'anthropic https://api.anthropic.com'],
    ['anthropic', { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1/v1/' }, 'anthropic http://127.0.0.1:1'],
    [
      'anthropic',
      { ANTHROPIC_BASE_URL: 'https://proxy.example/claude' },
      'anthropic https://proxy.example/claude',
    ],
    ['googleai', {}, 'google https://generativelanguage.googleapis.com/v1beta'],
    ['googleai', { GEMINI_BASE_URL: 'http://127.0.0.1:2' }, 'google http://127.0.0.1:2/v1beta'],
    [
      'googleai',
      { GEMINI_BASE_URL: 'https://proxy.example/v1' },
      'google https://proxy.example/v1',
    ],
    [
      'googleai',
      { GEMINI_BASE_URL: 'https://p.example/v1beta/openai/' },
      'openai https://p.example/v1beta/openai',
    ],
    ['vertexai', {}, 'vertexai https://aiplatform.googleapis.com/v1/publishers/google'],
    [
      'azure',
      { AZURE_RESOURCE_NAME: ' my-res ' },
      'azure https://my-res.openai.azure.com/openai/v1',
    ],
    [
      'azure',
      { AZURE_BASE_URL: 'https://gateway.example' },
      'azure https://gateway.example/openai/v1',
    ],
    [
      'azure',
      { AZURE_BASE_URL: 'https://gateway.example/openai' },
      'azure https://gateway.example/openai/v1',
    ],
    [
      'azure',
      { AZURE_BASE_URL: 'https://gateway.example/x/v1' },
      'azure https://gateway.example/x/v1',
    ],
    [
      'bedrock',
      { AWS_REGION: 'eu-west-1' },
      'bedrock https://bedrock-runtime.eu-west-1.amazonaws.com',
    ],
    ['bedrock', { BEDROCK_BASE_URL: 'https://vpc.example/' }, 'bedrock https://vpc.example'],
    ['groq', { GROQ_BASE_URL: 'https://proxy.example' }, 'groq https://proxy.example/openai/v1'],
    ['mistral', {}, 'mistral https://api.mistral.ai/v1'],
    ['ollama', {}, 'openai http://127.0.0.1:11434/v1'],
    ['lmstudio', {}, 'openai http://127.0.0.1:1234/v1'],
    ['llamacpp', {}, 'openai http://127.0.0.1:8080/v1'],
    ['vllm', {}, 'openai http://127.0.0.1:8000/v1'],
    ['vllm', { VLLM_BASE_URL: 'http://gpu.example:9' }, 'openai http://gpu.example:9/v1'],
  ])('%s under %o is %s', (name, env, place) => {
    expect(describeProvider(env, name)).toBe(place);
  });

  it('counts as moved only at another address than its own', () => {
    expect(
      providerIn({ OPENAI_BASE_URL: 'https://api.openai.com/v1/' }, 'openai').hasCustomBaseUrl,
    ).toBeUndefined();
    expect(providerIn({ OLLAMA_HOST: '0.0.0.0' }, 'ollama').hasCustomBaseUrl).toBeUndefined();
    expect(providerIn({ OLLAMA_HOST: ':1' }, 'ollama').hasCustomBaseUrl).toBe(true);
  });
});

describe('OLLAMA_HOST', () => {
  it.each([
    ['1.2.3.4', 'http://1.2.3.4:11434/v1'],
    [':11500', 'http://127.0.0.1:11500/v1'],
    ['1.2.3.4:1234', 'http://1.2.3.4:1234/v1'],
    ['gpu', 'http://gpu:11434/v1'],
    ['gpu:80', 'http://gpu/v1'],
    ['gpu:', 'http://gpu:11434/v1'],
    ['https://gpu.example:', 'https://gpu.example/v1'],
    ['localhost:11434/', 'http://localhost:11434/v1'],
    ['0.0.0.0', 'http://127.0.0.1:11434/v1'],
    ['0.0.0.0:11500', 'http://127.0.0.1:11500/v1'],
    ['::1', 'http://[::1]:11434/v1'],
    ['[::1]', 'http://[::1]:11434/v1'],
    ['[::1]:11500', 'http://[::1]:11500/v1'],
    ['[::]:11500', 'http://[::1]:11500/v1'],
    ['2001:db8::7', 'http://[2001:db8::7]:11434/v1'],
    [' "1.2.3.4" ', 'http://1.2.3.4:11434/v1'],
    ['http://gpu', 'http://gpu/v1'],
    ['http://gpu:11500', 'http://gpu:11500/v1'],
    ['https://gpu.example', 'https://gpu.example/v1'],
    ['https://gpu.example/ollama/', 'https://gpu.example/ollama/v1'],
    ['http://gpu:11434/v1', 'http://gpu:11434/v1'],
    ['http://', 'http://127.0.0.1/v1'],
    ['  ', 'http://127.0.0.1:11434/v1'],
  ])('%o leads to %s', (host, baseUrl) => {
    const provider = providerIn({ OLLAMA_HOST: host }, 'ollama');
    expect(provider.addressFault).toBeUndefined();
    expect(provider.baseUrl).toBe(baseUrl);
  });

  it.each(['gpu:port', ':66000', ':-1', 'ftp://gpu', 'user:secret@gpu:1', 'a b'])(
    '%o is a fault that names the variable',
    host => {
      const provider = providerIn({ OLLAMA_HOST: host }, 'ollama');
      const fault = findAccessFault(provider, {});
      expect(fault?.kind).toBe('invalid');
      expect(fault?.message).toMatch(/^OLLAMA_HOST /);
      expect(fault?.message).not.toContain('secret');
    },
  );

  it('yields to OLLAMA_BASE_URL', () => {
    const env = { OLLAMA_HOST: ':1', OLLAMA_BASE_URL: 'http://127.0.0.1:2' };
    expect(providerIn(env, 'ollama').baseUrl).toBe('http://127.0.0.1:2/v1');
  });
});

describe('access to a provider', () => {
  it.each<[string, Env, string, RegExp]>([
    ['missing', {}, 'googleai', /^no key for googleai: set GEMINI_API_KEY or GOOGLE_API_KEY$/],
    ['missing', { OPENAI_BASE_URL: 'https://x.example/v1' }, 'openai', /set OPENAI_API_KEY$/],
    [
      'missing',
      { XAI_BASE_URL: 'http://x.example' },
      'xai',
      /set XAI_API_KEY, and give xai an address .* https:/,
    ],
    ['missing', {}, 'azure', /set AZURE_API_KEY, and AZURE_RESOURCE_NAME or AZURE_BASE_URL$/],
    ['missing', { AZURE_API_KEY: 'k' }, 'azure', /set AZURE_RESOURCE_NAME or AZURE_BASE_URL$/],
    [
      'missing',
      { AWS_BEARER_TOKEN_BEDROCK: 'k' },
      'bedrock',
      /set AWS_REGION or BEDROCK_BASE_URL$/,
    ],
    ['missing', { AWS_REGION: 'eu-west-1' }, 'bedrock', /set AWS_BEARER_TOKEN_BEDROCK$/],
    [
      'invalid',
      { AZURE_API_KEY: 'k', AZURE_RESOURCE_NAME: 'evil.example/' },
      'azure',
      /^AZURE_RESOURCE_NAME /,
    ],
    [
      'invalid',
      { AWS_BEARER_TOKEN_BEDROCK: 'k', AWS_REGION: 'x@evil.example' },
      'bedrock',
      /^AWS_REGION /,
    ],
    ['invalid', { XAI_API_KEY: 'k\nk' }, 'xai', /the key in XAI_API_KEY/],
    ['invalid', { XAI_API_KEY: 'schlüssel' }, 'xai', /the key in XAI_API_KEY/],
    [
      'invalid',
      { XAI_API_KEY: 'k', XAI_BASE_URL: 'http://x.example' },
      'xai',
      /in the clear to x\.example/,
    ],
    [
      'invalid',
      { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'nowhere' },
      'openai',
      /^OPENAI_BASE_URL must be/,
    ],
    [
      'invalid',
      { OPENAI_BASE_URL: 'https://u:secret@x.example' },
      'openai',
      /^OPENAI_BASE_URL can't contain/,
    ],
  ])('has a setting that is %s: %o, %s', (kind, env, name, message) => {
    const fault = findAccessFault(providerIn(env, name), env);
    expect(fault).toMatchObject({ kind, message: expect.stringMatching(message) });
    expect(fault?.message).not.toMatch(/k\nk|schlüssel|secret/);
  });

  it.each<[Env, string]>([
    [{}, 'ollama'],
    [{ OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }, 'openai'],
    [{ AZURE_BASE_URL: 'http://localhost:9' }, 'azure'],
    [{ BEDROCK_BASE_URL: 'http://127.0.0.1:9' }, 'bedrock'],
    [{ XAI_API_KEY: ' k \n' }, 'xai'],
    [{ XAI_API_KEY: 'k', XAI_BASE_URL: 'http://[::1]:9' }, 'xai'],
    [{ VLLM_BASE_URL: 'http://gpu.example:8000' }, 'vllm'],
  ])('is possible under %o for %s', (env, name) => {
    expect(findAccessFault(providerIn(env, name), env)).toBeUndefined();
  });
});
