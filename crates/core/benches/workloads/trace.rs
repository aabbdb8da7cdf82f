//! Traces of runs in trees of four shapes.

use std::fmt::Write;

pub const SHAPES: [&str; 4] = [
    "one long agent",
    "children one by one",
    "children in parallel",
    "chains of 1,000",
];

#[derive(Default)]
struct Trace {
    text: String,
    events: usize,
    spans: u64,
}

const SCHEMA: &str = r#""schema":{"type":"object","properties":{"result":{"type":"string"}},"required":["result"],"additionalProperties":false}"#;

impl Trace {
    fn span(&mut self) -> String {
        self.spans += 1;
        format!("{:016x}", self.spans.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn event(&mut self, kind: &str, span: &str, parent: &str, fields: &str) {
        self.events += 1;
        writeln!(
            self.text,
            r#"{{"type":"{kind}","agentId":"worker","schemaVersion":1,"timestamp":{},"trace":{{"traceId":"333da37361d3a63c516924bbaa7c68db","spanId":"{span}","parentSpanId":"{parent}"}},{fields}}}"#,
            1_795_977_394_381 + self.events,
        )
        .unwrap_or_default();
    }

    fn start_agent(&mut self, parent: &str) -> (String, String) {
        let (agent, generation) = (self.span(), self.span());
        let props = format!(r#""props":{{"item":{}}},"maxReborns":100"#, self.events);
        self.event("agent:start", &agent, parent, &props);
        self.event(
            "generation:start",
            &generation,
            &agent,
            &format!(r#""generationId":0,{props}"#),
        );
        (agent, generation)
    }

    fn end_agent(&mut self, (agent, generation): &(String, String), parent: &str) {
        let ended = r#""success":true,"duration":12.5,"result":{"done":true}"#;
        let generation_end = format!(
            r#""generationId":0,"endReason":"return",{ended},"memory":{{"step":{}}}"#,
            self.events
        );
        self.event("generation:end", generation, agent, &generation_end);
        self.event("agent:end", agent, parent, ended);
    }

    /// A turn with a model call and its usage, and a batch of one tool call.
    fn turn(&mut self, parent: &str, conversation: &str) {
        let (turn, model, usage, batch) = (self.span(), self.span(), self.span(), self.span());
        let hash = format!("{:014x}", self.spans.wrapping_mul(0x9E37_79B9) % (1 << 53));
        let about = format!(r#""step":0,"messages":[{conversation}],"messageCount":4,{SCHEMA}"#);
        self.event("turn:start", &turn, parent, &about);
        self.event(
            "model:call:start",
            &model,
            &turn,
            r#""adapterId":"model-a","provider":"p","usedTools":true"#,
        );
        let counted = r#"{"promptTokens":20,"completionTokens":7,"totalTokens":27,"costs":{"usd":31},"callCount":1,"items":[{"type":"model","name":"model-a","provider":"p","costs":{"usd":31},"tokens":{"prompt":20,"completion":7,"total":27}}]}"#;
        self.event(
            "budget:update",
            &usage,
            &model,
            &format!(r#""delta":{counted},"aggregate":{counted},"own":{counted}"#),
        );
        self.event("model:call:end", &model, &turn, r#""adapterId":"model-a","rawText":"{\"result\":\"an answer of some length\"}","duration":1.25,"success":true"#);
        let message = format!(
            r#""message":{{"role":"assistant","content":"answer {}"}}"#,
            self.events
        );
        self.event(
            "turn:end",
            &turn,
            parent,
            &format!(r#"{about},{message},"success":true,"contentHash":"{hash}","cache":false"#),
        );
        self.event(
            "tools:execute:start",
            &batch,
            parent,
            r#""toolCallsCount":1,"toolNames":["search"]"#,
        );
        let row = format!(
            r#"{{"callId":"c1","toolName":"search","input":{{"q":"x"}},"output":{{"hits":[{{"title":"t","rank":{}}}]}},"duration":1,"success":true,"contentHash":"{hash}"}}"#,
            self.events
        );
        self.event(
            "tools:execute:end",
            &batch,
            parent,
            &format!(r#""success":true,"toolResults":[{row}]"#),
        );
    }
}

const EVENTS_OF_A_TURN: usize = 7;

/// The text of a trace of at least the given number of events.
pub fn trace(shape: &str, events: usize) -> String {
    let text = "The quick brown fox jumps over the lazy dog, again and again. ".repeat(4);
    let message = format!(r#"{{"role":"user","content":[{{"type":"text","text":"{text}"}}]}}"#);
    let conversation = [message.as_str(); 4].join(",");
    let mut trace = Trace::default();
    let run = trace.span();
    trace.event("runWith:start", &run, "", r#""config":{"isProd":false}"#);
    let root = trace.start_agent(&run);
    let per_agent = 2 * 2 + EVENTS_OF_A_TURN;
    match shape {
        "one long agent" => {
            while trace.events < events {
                trace.turn(&root.1, &conversation);
            }
        }
        "children one by one" => {
            while trace.events < events {
                let child = trace.start_agent(&root.1);
                trace.turn(&child.1, &conversation);
                trace.end_agent(&child, &root.1);
            }
        }
        "children in parallel" => {
            let children: Vec<_> = (0..events / per_agent)
                .map(|_| trace.start_agent(&root.1))
                .collect();
            for child in &children {
                trace.turn(&child.1, &conversation);
            }
            for child in &children {
                trace.end_agent(child, &root.1);
            }
        }
        _ => {
            while trace.events < events {
                let mut chain = vec![root.clone()];
                for _ in 0..(events / per_agent).min(998) {
                    let parent = chain[chain.len() - 1].1.clone();
                    chain.push(trace.start_agent(&parent));
                    trace.turn(&chain[chain.len() - 1].1.clone(), &conversation);
                }
                while chain.len() > 1 {
                    if let Some(ended) = chain.pop() {
                        let parent = chain[chain.len() - 1].1.clone();
                        trace.end_agent(&ended, &parent);
                    }
                }
            }
        }
    }
    trace.text
}
