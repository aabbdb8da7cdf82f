import type { RequestContent } from "../request/content.js";
import { allocate, type BudgetAllocation, type Tracked } from "../window/ledger.js";
import { modelLimit, type ModelLimits } from "../window/models.js";
import type { CountTokens } from "../window/tokens.js";
import { BoundaryCapture } from "./boundary.js";
import type { BoundaryFacts } from "./boundary-types.js";
import { microsecondsNow } from "./timestamp.js";

interface CaptureDefaults {
  readonly sessionId: string;
  readonly agentName: string;
  readonly model: string;
}

/** The settings that all captures of a manager share. */
interface CaptureSettings {
  readonly outputReserve: number;
  readonly models: ModelLimits | undefined;
  readonly countTokens: CountTokens | undefined;
}

/** Creates the captures of a manager: adds the time, the budget of the model, and defaults for missing facts. */
export class CaptureFactory {
  readonly #defaults: CaptureDefaults;
  readonly #settings: CaptureSettings;
  readonly #budgets = new Map<string, BudgetAllocation>();

  constructor(defaults: CaptureDefaults, settings: CaptureSettings) {
    this.#defaults = defaults;
    this.#settings = settings;
  }

  create(content: RequestContent, given: Partial<BoundaryFacts>, tracked: Tracked): BoundaryCapture {
    const facts: BoundaryFacts = { source: "call", attempt: 1, replayed: false, ...this.#defaults, ...given };
    return new BoundaryCapture({
      microseconds: microsecondsNow(),
      content,
      tracked,
      budget: this.#budgetOf(facts.model),
      countTokens: this.#settings.countTokens,
      facts,
    });
  }

  #budgetOf(model: string): BudgetAllocation {
    let budget = this.#budgets.get(model);
    if (budget === undefined) {
      budget = allocate(modelLimit(model, this.#settings.models), this.#settings.outputReserve);
      this.#budgets.set(model, budget);
    }
    return budget;
  }
}
