import { BoundaryCapture } from "./boundary.js";

/** A request to a model, or a change of messages by `process`. */
export type ContextEvent =
  | { readonly kind: "boundary"; readonly snapshot: BoundaryCapture }
  | {
      readonly kind: "optimization";
      readonly timestamp: string;
      readonly agentName: string;
      readonly strategy: string;
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      readonly messagesBefore: number;
      readonly messagesAfter: number;
    };

const MAX_CHARACTERS = 64 * 1024 * 1024;

/** The latest events, limited by their number and by 64 Mi characters of captures. The last event is always kept. */
export class History {
  readonly #limit: number;
  readonly #events: ContextEvent[] = [];
  #characters = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(event: ContextEvent): void {
    this.#events.push(event);
    this.#characters += size(event);
    while (this.#events.length > this.#limit || (this.#characters > MAX_CHARACTERS && this.#events.length > 1)) {
      const oldest = this.#events.shift();
      if (oldest !== undefined) this.#characters -= size(oldest);
    }
  }

  get events(): ContextEvent[] {
    return [...this.#events];
  }
}

function size(event: ContextEvent): number {
  return event.kind === "boundary" ? BoundaryCapture.sizeOf(event.snapshot) : 0;
}
