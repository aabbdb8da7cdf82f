// Server-sent events as specified by the WHATWG HTML standard.

/**
 * A parser for text in pieces of any size.
 *
 * @returns {{ push(text: string): { event: string, data: string }[] }} `push` returns the events that the text
 *   completed. As the standard requires, an event that is cut off by the end of the stream is never returned.
 */
export function createSseParser() {
  let rest = "";
  let first = true;
  let afterCr = false;
  let data = [];
  let event = "";

  /** Takes one line without its end. Returns an event if the line is the empty one that ends it. */
  function line(text) {
    if (text === "") {
      const done = data.length > 0 ? { event: event || "message", data: data.join("\n") } : null;
      data = [];
      event = "";
      return done;
    }
    const colon = text.indexOf(":");
    const field = colon === -1 ? text : text.slice(0, colon);
    let value = colon === -1 ? "" : text.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "data") data.push(value);
    else if (field === "event") event = value;
    return null; // comments, ids and retry times have no effect
  }

  return {
    push(text) {
      if (text === "") return [];
      if (first && text.startsWith("\uFEFF")) text = text.slice(1);
      first = false;
      if (afterCr && text.startsWith("\n")) text = text.slice(1); // the second half of a split CRLF
      afterCr = false;

      const scanFrom = rest.length; // the kept text contains no line end
      const all = rest + text;
      const events = [];
      const lineEnd = /\r\n|\n|\r/g;
      lineEnd.lastIndex = scanFrom;
      let start = 0;
      for (let match = lineEnd.exec(all); match; match = lineEnd.exec(all)) {
        const done = line(all.slice(start, match.index));
        if (done) events.push(done);
        start = lineEnd.lastIndex;
        afterCr = match[0] === "\r" && start === all.length;
      }
      rest = all.slice(start);
      return events;
    },
  };
}

/**
 * The events of a stream of bytes, which can be split anywhere, even inside a character.
 *
 * @param {AsyncIterable<Uint8Array>} bytes
 * @returns {AsyncGenerator<{ event: string, data: string }>}
 */
export async function* readSse(bytes) {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true }); // the parser drops the byte order mark itself
  const parser = createSseParser();
  for await (const chunk of bytes) yield* parser.push(decoder.decode(chunk, { stream: true }));
  yield* parser.push(decoder.decode());
}
