import type { Advise, Env, GlobalOptions } from '../core/types.ts';
import { shellOf } from './shell.ts';
import { shellWord } from './shell-word.ts';

/** The flags that choose a service, as they were given. */
export type ServiceFlags = Partial<Pick<GlobalOptions, 'profile' | 'baseUrl' | 'insecureHttp'>>;

/** What advises commands that ask the service of these flags. */
export function adviseWith(flags: ServiceFlags, env: Env): Advise {
  const shell = shellOf(env);
  const chosen = serviceWords(flags);
  return (...words) => ['promptrun', ...words, ...chosen].map(word => shellWord(word, shell)).join(' ');
}

export function serviceWords({ profile, baseUrl, insecureHttp }: ServiceFlags): string[] {
  return [
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...(baseUrl === undefined ? [] : ['--base-url', baseUrl]),
    ...(insecureHttp === true ? ['--insecure-http'] : []),
  ];
}
