import { misspelled } from "./nearest.js";
import { checkObject } from "./received.js";

/** The names of all options. The compiler reports an option that is missing here. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>;

/**
 * Rejects misspelled option names, which would be ignored silently. Names that resemble no known name pass: they may
 * belong to another library.
 *
 * @param owner names the options in the message, such as `runWith: options`.
 * @throws TypeError, also for options that are not an object.
 */
export function checkOptionNames(owner: string, options: object, known: Readonly<Record<string, true>>): void {
  checkObject(owner, options);
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name)) continue;
    const meant = misspelled(name, Object.keys(known));
    if (meant !== undefined) throw new TypeError(`${owner}.${name} is unknown; did you mean "${meant}"?`);
  }
}
