import type { Advise, GlobalOptions } from '../core/types.ts';
import { shellWord } from './shell-word.ts';

/** The flags that choose a service, as they were given. */
export type ServiceFlags = Partial<Pick<GlobalOptions, 'profile' | 'baseUrl' | 'insecureHttp'>>;

/** What advises commands that ask the service of these flags. */
export function adviseWith(flags: ServiceFlags): Advise {
  const chosen = serviceWords(flags);
  return (...words) => ['promptrun', ...words, ...chosen].map(shellWord).join(' ');
}

export function serviceWords({ profile, baseUrl, insecureHttp }: ServiceFlags): string[] {
  return [
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...(baseUrl === undefined ? [] : ['--base-url', baseUrl]),
    ...(insecureHttp === true ? ['--insecure-http'] : []),
  ];
}
