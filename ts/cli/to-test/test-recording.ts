import { RecordingSession } from "../../runtime/run/recording-session.js";
import { runWith } from "../../runtime/run/run-with.js";
import type { AgentFrameSnapshot, AgentSnapshot } from "../../types/snapshot.js";
import { emptyFrame } from "../../values/empty-frame.js";

/** What a test would have recorded that makes this run: the run's frame stands in that of the test. */
export async function testRecording(snapshot: AgentSnapshot): Promise<AgentSnapshot> {
  const { requestTexts = [], ...whole } = snapshot.root;
  const run = whole.agentId === "" ? whole : { ...emptyFrame(), children: { [whole.callId]: whole } };
  const { callId, inputHash } = await frameOfRun();
  const frame: AgentFrameSnapshot = {
    ...run,
    callId,
    startOrder: run.startOrder ?? 0,
    state: whole.state,
    ...(run.inputHash === undefined && inputHash !== undefined ? { inputHash } : {}),
    ...(whole.outputTypes === undefined ? {} : { outputTypes: whole.outputTypes }),
  };
  return { ...snapshot, root: { ...emptyFrame(), startOrder: 0, children: { [callId]: frame }, requestTexts } };
}

/** The frame that the first run in a test has. */
async function frameOfRun(): Promise<AgentFrameSnapshot> {
  const test = new RecordingSession({ mode: "live" });
  await test.context.run(() => runWith(() => {}));
  const { root } = await test.finish();
  test.close();
  return Object.values(root.children)[0] as AgentFrameSnapshot;
}
