/**
 * The URL of a file of the built package.
 * @param path relative to `dist`, wherever the bundler has put this code in it.
 */
export function builtFile(path: string): string {
  return import.meta.url.replace(/\/dist\/(?!.*\/dist\/).*$/, `/dist/${path}`);
}
