// Checks the licences of the code that the packages contain against the list in lib/licences.mjs.
import { bundledModules, linkedCrates, refused } from "./lib/licences.mjs";
import { main } from "./lib/steps.mjs";

await main(() => {
  const wrong = refused([...linkedCrates(), ...bundledModules()]);
  if (wrong.length === 0) return;
  const list = wrong.map(({ name, version, licence }) => `${name} ${version}: ${licence || "no licence"}`);
  throw new Error(`licences that are not on the list of scripts/lib/licences.mjs:\n  ${list.join("\n  ")}`);
});
