import { native, type NativeSnapshotHandle } from "../../native.js";
import { RecordingSession } from "../../runtime/run/recording-session.js";
import { runWith } from "../../runtime/run/run-with.js";
import { snapshotObject } from "../../snapshot/handle.js";
import { checkSnapshot } from "../../snapshot/open.js";
import { ReadModel, type ListedFrame } from "../../snapshot/read-model.js";
import type { AgentSnapshot } from "../../types/snapshot.js";
import type { FindRequest } from "./requests.js";

/** The snapshot that a test records if it executes this run. */
export async function testRecording(
  run: NativeSnapshotHandle,
  { frames }: ReadModel,
  request: FindRequest,
): Promise<AgentSnapshot> {
  const { callId, inputHash } = await firstFrameOfTest();
  const calls = frames.flatMap(({ generations }) => generations.flatMap((generation) => generation.calls));
  const requests = calls.filter((call) => call.callId !== undefined).map((call) => request(call));
  return snapshotObject(native.testRecording(run, callId, inputHash, requests));
}

/** The frame of the first run in a test. */
async function firstFrameOfTest(): Promise<ListedFrame> {
  const test = new RecordingSession({ mode: "live" });
  await test.context.run(() => runWith(() => {}));
  const { handle } = checkSnapshot(await test.finish());
  test.close();
  return new ReadModel(handle).frames[1] as ListedFrame;
}
