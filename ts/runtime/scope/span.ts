import { RunContext, requireContext, storage } from "./run-context.js";
import { EVENTS } from "../../events/names.js";
import { toErrorInfo } from "../../values/error-info.js";
import { newSpanId } from "./ids.js";

/**
 * Runs a function in its own span: everything it does is below that span in the trace.
 *
 * @param name the name of the span in the trace.
 * @param attributes are added to `trace.attributes` of the span's two events.
 * @returns the result of `fn`.
 * @throws ContextNotFoundError outside of runs and agents.
 * @throws the error of `fn`.
 */
export async function withCustomSpan<Result>(
  name: string,
  fn: () => Result | Promise<Result>,
  attributes?: Readonly<Record<string, unknown>>,
): Promise<Result> {
  const outer = requireContext("withCustomSpan");
  const { scope } = outer;
  const span = { spanId: newSpanId(), parentSpanId: outer.trace.spanId };
  const startedAt = performance.now();
  const end = (fields: object): void => {
    scope.emit(EVENTS.CUSTOM_SPAN_END, span, { name, ...fields, duration: performance.now() - startedAt }, attributes);
  };
  scope.emit(EVENTS.CUSTOM_SPAN_START, span, { name }, attributes);
  try {
    const { generation, inCall } = outer;
    const result = await storage.run(new RunContext(scope, span.spanId, { generation, inCall }), fn);
    end({ success: true });
    return result;
  } catch (error) {
    end({ success: false, error: toErrorInfo(error) });
    throw error;
  }
}
