// `node --import agent-rewind/register agent.mjs`: records or replays the whole process.

import { messageOf } from "../errors/base.js";
import { printable } from "../errors/printable.js";
import { checkRuntime } from "../instrument/runtime.js";
import { readSettings, SettingsError } from "./settings.js";

try {
  checkRuntime("agent-rewind/register");
  const settings = readSettings(process.env);
  const { mode } = settings;
  if (mode !== "off") {
    const { recordProcess } = await import("./record-process.js");
    await recordProcess({ ...settings, mode });
  }
} catch (error) {
  // Before the program starts: the lines of a stack would only hide the reason.
  process.stderr.write(`agent-rewind: ${printable(messageOf(error), "\n")}\n`);
  process.exit(error instanceof SettingsError ? error.exitCode : 3);
}
