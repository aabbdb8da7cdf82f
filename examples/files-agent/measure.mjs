// Runs one phase of the example, counts its live calls and prints its progress.

/**
 * @param {object} options
 * @param {{ count: number, since(count: number): string[] }} options.requests The requests that the endpoint received.
 * @param {{ count: number, since(count: number): string[] }} options.toolCalls The executed tool calls.
 * @param {(line: string) => void} options.print
 */
export function createMeasure({ requests, toolCalls, print }) {
  /**
   * @param {string} name
   * @param {(eventBus: { emit(event: object): void }) => Promise<unknown>} run Receives the bus that has to see the
   * events.
   */
  return async function measure(name, run) {
    print(`\n${name}`);
    const requestsBefore = requests.count;
    const toolCallsBefore = toolCalls.count;
    const replayed = { model: 0, tool: 0 };
    const showProgress = (event) => {
      const live = requests.count - requestsBefore + toolCalls.count - toolCallsBefore;
      print(`  ${column(live)} calls made, ${column(replayed.model + replayed.tool)} replayed   ${describe(event)}`);
    };
    const emit = (event) => {
      if (event.cache === true && event.type === "turn:end") replayed.model += 1;
      if (event.cache === true && event.type === "tool:call:end") replayed.tool += 1;
      if (event.type === "agent:end") showProgress(event);
    };

    const started = performance.now();
    const outcome = await run({ emit }).then(
      (result) => ({ result }),
      (error) => ({ error }),
    );
    return {
      name,
      ...outcome,
      ms: performance.now() - started,
      requests: requests.since(requestsBefore),
      toolCalls: toolCalls.since(toolCallsBefore),
      replayed,
    };
  };
}

function column(count) {
  return String(count).padStart(2);
}

function describe({ agentId, success, props, result, error }) {
  const name = `${success ? "✓" : "✗"} ${agentId}`;
  if (!success) return `${name}: ${error?.message ?? error}`;
  if (result?.facts) return `${name}: ${props.file}, facts: ${result.facts.length}`;
  if (result?.lookFor) return `${name}: look for ${result.lookFor.join(", ")}`;
  return name;
}
