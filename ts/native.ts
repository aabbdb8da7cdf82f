import { createRequire } from "node:module";

import { isError } from "./errors/base.js";
import {
  InvalidSnapshotError,
  LimitError,
  NativeMissingError,
  RedactError,
  RestoreError,
  RewindError,
  type Fault,
} from "./errors/index.js";
import type * as Binding from "../native/binding.cjs";

export type Native = typeof Binding;
// Types that cross the binding have the prefix Native.
export type NativeFrameHandle = Binding.FrameHandle;
export type NativeForkChange = Binding.BindingForkChange;
export type NativeFileFailure = Binding.BindingFileFailure;
export type NativeSnapshotHandle = Binding.SnapshotHandle;
export type NativeTextSink = Binding.TextSink;
export type NativeConversation = Binding.Conversation;
export type NativeRequestTail = Binding.RequestTail;
export type NativeStartedCall = Binding.BindingStartedCall;
export type NativeFrameStart = Binding.BindingFrameStart;
export type NativeRecordedState = Binding.BindingRecordedState;

function loadAddon(): Native {
  const load = createRequire(import.meta.url);
  try {
    return load("../native/binding.cjs") as Native;
  } catch (cause) {
    throw new NativeMissingError(cause, released(load));
  }
}

function released(load: NodeJS.Require): { version?: string; packages?: string[] } {
  try {
    const manifest = load("../package.json") as { version: string; optionalDependencies?: object };
    return { version: manifest.version, packages: Object.keys(manifest.optionalDependencies ?? {}) };
  } catch {
    // Bundled programs have no package.json of this package.
    return {};
  }
}

/** The Rust core. */
export const native: Native = loadAddon();

interface Detail {
  message: string;
  faults?: Fault[];
  path?: string;
  spanId?: string;
}

function detailOf(error: Error): Detail {
  try {
    return JSON.parse(error.message) as Detail;
  } catch {
    return { message: error.message };
  }
}

/** Converts an error of the binding to an error class of the package. */
export function fromNativeError(error: unknown): unknown {
  const code = isError(error) ? (error as Error & { code?: unknown }).code : undefined;
  if (typeof code !== "string" || !code.startsWith("ERR_REWIND_")) return error;
  const detail = detailOf(error as Error);
  switch (code) {
    case "ERR_REWIND_INVALID_SNAPSHOT":
      return new InvalidSnapshotError(detail.faults ?? [{ path: detail.path ?? "", message: detail.message }]);
    case "ERR_REWIND_LIMIT":
      return new LimitError(detail.message, detail.path === undefined ? {} : { path: detail.path });
    case "ERR_REWIND_RESTORE":
      return new RestoreError(detail.message, {
        ...(detail.spanId === undefined ? {} : { spanId: detail.spanId }),
        ...(detail.path === undefined ? {} : { path: detail.path }),
      });
    case "ERR_REWIND_REDACT":
      return new RedactError(detail.message);
    default:
      return new RewindError(detail.message, code);
  }
}

/** Calls the binding, and converts its errors to error classes of the package. */
export function calling<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw fromNativeError(error);
  }
}
