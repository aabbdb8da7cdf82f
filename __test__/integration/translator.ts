// An adapter for an imaginary client, as a third party would write it: with the public kit alone.
import {
  ambientContext,
  getContext,
  journaled,
  journalStreamed,
  recordedTiming,
  replayStream,
  Tap,
  type StreamEnd,
} from "agent-rewind/integration";

/** The imaginary client. */
export interface Translator {
  /** Resolves when the server has accepted the text. */
  translate(text: string, options?: { signal?: AbortSignal | undefined }): Promise<Translation>;
  /** Reports failures in its result. */
  detect(text: string): Promise<Detection>;
}

export interface Translation {
  readonly id: number;
  readonly words: ReadableStream<Word>;
}

export interface Word {
  text: string;
}

export type Detection = { language: string } | { problem: string };

interface RecordedTranslation {
  id: number;
  words: Word[];
  end?: StreamEnd;
}

export function rewindTranslator(translator: Translator, timing: "instant" | "recorded" = "instant"): Translator {
  const created = getContext();
  return {
    async translate(text, options = {}) {
      const ambient = ambientContext("rewindTranslator", created);
      if (ambient === undefined) return translator.translate(text, options);
      const { signal } = options;
      return journalStreamed<Translation, RecordedTranslation>({
        kind: "translation",
        name: "translate",
        request: { text },
        context: ambient.context,
        async execute(info) {
          const both = signal === undefined ? info.signal : AbortSignal.any([signal, info.signal]);
          const { id, words } = await translator.translate(text, { signal: both });
          const tap = new Tap(words, { ...info, signal: both });
          return {
            answer: { id, words: tap.open() },
            recorder: tap.recorder(({ chunks, end }) => ({
              id,
              words: [...chunks],
              ...(end === undefined ? {} : { end }),
            })),
          };
        },
        async replay({ id, words, end }, { stream }, rest) {
          const until = timing === "recorded" ? recordedTiming(performance.now(), signal) : undefined;
          await until?.(stream?.startMs ?? 0);
          const { continue: restart } = rest;
          return {
            id,
            words: replayStream(
              words.map((word, index) => [word, stream?.chunks?.[index]?.[1] ?? 0] as const),
              {
                ...rest,
                signal,
                end,
                call: "translate",
                until,
                continue: restart && (async () => (await restart()).words),
              },
            ),
          };
        },
        incompleteAnswer: ({ end }) => (end === "open" ? "restart" : undefined),
      });
    },
    async detect(text) {
      const ambient = ambientContext("rewindTranslator", created);
      if (ambient === undefined) return translator.detect(text);
      const { value } = await journaled<Detection>({
        kind: "translation",
        name: "detect",
        request: { text },
        context: ambient.context,
        execute: () => translator.detect(text),
        meta: () => ({ finishReason: "found" }),
        failureIn: (found) => ("problem" in found ? { name: "DetectError", message: found.problem } : undefined),
      });
      return value;
    },
  };
}
