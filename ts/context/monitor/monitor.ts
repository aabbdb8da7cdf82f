import type { BoundaryCapture } from "../capture/boundary.js";
import type { ManagerConfig } from "../window/config.js";
import { utilizationOf } from "../window/ledger.js";
import { createRedactor } from "../../redact/index.js";
import type { MonitorRedactor } from "./redactor.js";
import { monitorDocument } from "./document.js";
import { MonitorFile } from "./file.js";
import { AgentPaths, withSuffix } from "./paths.js";

/** The reason for a boundary. */
export type Trigger = "turn" | "tool_call" | "manual";

/** Applies the rules of `agent-rewind/redact`. The redactor is created on first use. */
const BY_RULES: MonitorRedactor = { value: (messages) => (ofRules ??= createRedactor()).value(messages) };
let ofRules: ReturnType<typeof createRedactor> | undefined;

/** Writes the latest capture of each agent to the file of that agent. */
export class Monitor {
  readonly #config: ManagerConfig;
  readonly #ownName: string;
  readonly #redactor: MonitorRedactor | undefined;
  readonly #onError: (error: unknown) => void;
  readonly #paths: AgentPaths;
  readonly #files = new Map<string, MonitorFile>();

  /** The agent `ownName` writes to the configured path itself, other agents next to it. */
  constructor(
    config: ManagerConfig,
    ownName: string,
    redactor: MonitorRedactor | undefined,
    onError: (error: unknown) => void,
  ) {
    this.#config = config;
    this.#ownName = ownName;
    this.#redactor = config.redactSensitive ? (redactor ?? BY_RULES) : undefined;
    this.#onError = onError;
    this.#paths = new AgentPaths(config.monitorPath);
  }

  /** Writes the capture if the configured frequency requires it. */
  observe(data: BoundaryCapture, trigger: Trigger): void {
    if (this.#config.monitorEnabled && this.#isDue(data, trigger)) this.write(data);
  }

  #isDue(data: BoundaryCapture, trigger: Trigger): boolean {
    if (trigger === "manual") return true;
    switch (this.#config.monitorFrequency) {
      case "turn":
        return true;
      case "tool_call":
        return trigger === "tool_call";
      case "overflow":
        return utilizationOf(data.ledger, data.budget) >= 1;
      case "manual":
        return false;
    }
  }

  /** Writes a capture regardless of the frequency. Returns the path. */
  write(data: BoundaryCapture): string {
    const file = this.#file(this.#pathOf(data));
    const state = (): Buffer => monitorDocument(data, this.#redactor);
    if (this.#config.monitorWriteMode === "sync") file.putNow(state);
    else file.put(state);
    return file.path;
  }

  async idle(): Promise<void> {
    await Promise.all([...this.#files.values()].map((file) => file.idle()));
  }

  #pathOf({ agentName, timing }: BoundaryCapture): string {
    const path = this.#paths.of(agentName === this.#ownName ? "" : agentName);
    return timing === "pre_optimization" ? withSuffix(path, ".pre_optimization") : path;
  }

  #file(path: string): MonitorFile {
    let file = this.#files.get(path);
    if (file === undefined) {
      file = new MonitorFile(path, this.#config.monitorFormat === "human", this.#onError);
      this.#files.set(path, file);
    }
    return file;
  }
}
