import path from 'node:path';
import { readIfReadable } from '../../../files/read-text.ts';

/** The endings of test files, in order of precedence. */
export const TEST_FILE_SUFFIXES = ['.test.yaml', '.test.yml'];

/** Matches prompt files of other tools that may have their own tests. */
export const FOREIGN_PROMPT = /\.prompt\.ya?ml$/u;

/** Keys that every configuration of promptfoo has, and no test file. */
const REQUIRED_CONFIGURATION_KEYS = /^(?:prompts|providers|targets)[ \t]*:/mu;

export function isTestFile(name: string): boolean {
  return TEST_FILE_SUFFIXES.some(suffix => name.endsWith(suffix));
}

/**
 * Returns true for a promptfoo configuration, by its name; one that ends like a test file, by its
 * keys.
 */
export function isPromptfooFile(file: string): boolean {
  const name = path.basename(file);
  if (!name.includes('promptfooconfig') || !/\.(?:ya?ml|json)$/u.test(name)) return false;
  return !isTestFile(name) || REQUIRED_CONFIGURATION_KEYS.test(readIfReadable(file) ?? '');
}

/**
 * Returns the names that the test file of a prompt file may have; none for a file with its own
 * tests.
 */
export function listTestFileNames(name: string): string[] {
  if (isTestFile(name) || FOREIGN_PROMPT.test(name) || isPromptfooFile(name)) return [];
  const stem = name.replace(/\.(?:prompt|md|markdown|txt|ya?ml)$/u, '');
  return stem === name ? [] : TEST_FILE_SUFFIXES.map(suffix => stem + suffix);
}
