/**
 * Code for `node -e` that loads a module of the user's. TypeScript is run by what the module's project has for it, or else
 * by Node itself, which takes no enums and no imports without an extension.
 */
export const NODE_LOAD = `
const load = async file => {
  const whole = require('node:path').resolve(file);
  const url = require('node:url').pathToFileURL(whole).href;
  if (!/\\.[cm]?ts$/.test(file)) return await import(url);
  const near = require('node:module').createRequire(url);
  const has = name => {
    try {
      return near.resolve(name) !== '';
    } catch {
      return false;
    }
  };
  if (has('tsx/cjs/api')) return near('tsx/cjs/api').require(whole, url);
  return has('jiti') ? await near('jiti').createJiti(url).import(whole) : await import(url);
};`;
