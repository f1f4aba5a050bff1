/// <reference types="handlebars" />

/** Handlebars without its compiler and runtime, which no template of a prompt ever reaches. */
declare module 'handlebars/dist/cjs/handlebars/compiler/base.js' {
  /** Throws Error, with `lineNumber` or with a line in its message. */
  export function parse(template: string): hbs.AST.Program;
}
