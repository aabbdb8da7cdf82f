import { misspelled } from "./nearest.js";

/** The names of all options, told by their type: one that is added is not forgotten here. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>;

/**
 * Refuses an option whose name is a known one misspelt, which would be left out in silence. Names that are like none
 * are let pass: they may be another library's.
 *
 * @param owner what the options are given to, such as `runWith: options`.
 * @throws TypeError
 */
export function checkOptionNames(owner: string, options: object, known: Readonly<Record<string, true>>): void {
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name)) continue;
    const meant = misspelled(name, Object.keys(known));
    if (meant !== undefined) throw new TypeError(`${owner}.${name} is unknown; did you mean "${meant}"?`);
  }
}
