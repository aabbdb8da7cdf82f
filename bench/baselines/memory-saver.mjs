// LangGraph's checkpoints in memory. Each contains the complete state of the graph.

import { emptyCheckpoint, MemorySaver, uuid6 } from "@langchain/langgraph-checkpoint";

/** The checkpoints of one thread. */
export class Checkpoints {
  #saver = new MemorySaver();
  #config = { configurable: { thread_id: "thread", checkpoint_ns: "" } };
  #step = 0;

  /** Saves the messages so far, as a graph does after each step. */
  async put(messages) {
    const checkpoint = { ...emptyCheckpoint(), id: uuid6(this.#step), channel_values: { messages } };
    const metadata = { source: "loop", step: this.#step++, parents: {} };
    this.#config = await this.#saver.put(this.#config, checkpoint, metadata);
  }

  /** Returns the messages of the last checkpoint. */
  async messages() {
    const { checkpoint } = await this.#saver.getTuple(this.#config);
    return checkpoint.channel_values.messages;
  }
}
