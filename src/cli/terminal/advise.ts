import type { GlobalOptions } from '../core/types.ts';
import { shellWord } from './shell-word.ts';

/**
 * Writes a command line to advise, which does what is promised as it is printed: with the flags that chose the service.
 *
 * @param words after `promptrun`, each quoted where a shell needs it
 */
export type Advise = (...words: readonly string[]) => string;

/** The flags that choose a service, as they were given. */
export type ServiceFlags = Partial<Pick<GlobalOptions, 'profile' | 'baseUrl' | 'insecureHttp'>>;

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
