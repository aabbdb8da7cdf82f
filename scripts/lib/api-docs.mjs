import { rmSync } from "node:fs";
import { readEntryPoints } from "./entry-points.mjs";
import { at } from "./paths.mjs";

/**
 * Writes the API reference into docs/api, which is not in git: a Markdown file for each entry point of the package, from
 * its doc comments.
 *
 * @param {{ check: boolean }} options `check`: only checks the doc comments, and leaves no pages
 */
export async function buildApiDocs({ check }) {
  const { Application } = await import("typedoc");
  const out = at(check ? ".tmp/api" : "docs/api");
  const sources = Object.values(readEntryPoints().esm).filter((source) => !source.startsWith("ts/cli/"));
  const app = await Application.bootstrapWithPlugins({
    basePath: at("ts"),
    gitRevision: "main",
    entryPoints: sources.map((source) => at(source)),
    tsconfig: at("tsconfig.json"),
    plugin: ["typedoc-plugin-markdown"],
    logLevel: "Warn",
    readme: "none",
    name: "agent-rewind",
    disableSources: true,
    excludeInternal: true,
    skipErrorChecking: true,
    validation: { notExported: false },
    treatWarningsAsErrors: true,
    outputs: [{ name: "markdown", path: out }],
    // Option of typedoc-plugin-markdown.
    outputFileStrategy: "modules",
    hideBreadcrumbs: true,
    hidePageHeader: true,
    parametersFormat: "table",
    interfacePropertiesFormat: "table",
    typeDeclarationFormat: "table",
    formatWithPrettier: false,
  });
  const project = await app.convert();
  if (project === undefined) throw new Error("the sources could not be read for the API reference");
  rmSync(out, { recursive: true, force: true });
  await app.generateOutputs(project);
  if (check) rmSync(out, { recursive: true, force: true });
  if (app.logger.hasErrors() || app.logger.hasWarnings())
    throw new Error("the API reference has errors: fix the doc comments named above");
}
