//! Documents of providers, read in one form.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may fail by panicking"
)]

use agent_rewind_core::provider::{Documents, read};
use serde_json::{Value, json};

fn exchange(kind: &str, request: &Value, output: &Value) -> Value {
    let (request, output) = (request.to_string(), output.to_string());
    let documents = Documents {
        kind,
        request: Some(&request),
        output: Some(&output),
        meta: None,
    };
    serde_json::to_value(read(documents)).unwrap()
}

/// A call of a client through fetch. `answer`: the recorded body.
fn http(url: &str, body: &Value, answer: &Value) -> Value {
    let request = json!({"input": {"method": "POST", "url": url, "headers": {}, "body": body}, "name": "host"});
    exchange(
        "fetch",
        &request,
        &json!({"status": 200, "headers": [], "body": answer}),
    )
}

fn events(events: &[Value]) -> Value {
    let texts = events
        .iter()
        .map(|event| format!("event: x\ndata: {event}\n\n"));
    json!({"text": texts.collect::<Vec<_>>().concat() + "data: [DONE]\n\n"})
}

fn usage(prompt: u64, completion: u64) -> Value {
    json!({"promptTokens": prompt, "completionTokens": completion, "totalTokens": prompt + completion})
}

const CHAT: &str = "https://api.openai.com/v1/chat/completions";

#[test]
fn openai_chat() {
    let tool = json!({"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{\"city\":\"Oslo\"}"}});
    let body = json!({"model": "gpt-5", "messages": [
        {"role": "developer", "content": "be brief"},
        {"role": "user", "content": [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "u"}}]},
        {"role": "assistant", "content": null, "tool_calls": [tool]},
        {"role": "tool", "tool_call_id": "c1", "content": "21"},
    ], "tools": [{"type": "function", "function": {"name": "weather"}}]});
    let answer = json!({"json": {"model": "gpt-5-2026", "choices": [{"finish_reason": "tool_calls",
        "message": {"role": "assistant", "content": null, "tool_calls": [tool]}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}});
    let call = json!({"id": "c1", "name": "weather", "arguments": {"city": "Oslo"}});
    assert_eq!(
        http(CHAT, &body, &answer),
        json!({
            "api": "openai-chat", "endpoint": "POST /v1/chat/completions", "status": 200, "model": "gpt-5",
            "messages": [
                {"role": "system", "text": "be brief"},
                {"role": "user", "text": "look", "media": ["image"]},
                {"role": "assistant", "toolCalls": [call]},
                {"role": "tool", "text": "21", "toolCallId": "c1"},
            ],
            "tools": ["weather"],
            "answer": {"role": "assistant", "toolCalls": [call]},
            "finishReason": "tool_calls", "usage": usage(10, 5),
        })
    );
}

#[test]
fn openai_chat_streamed() {
    let delta = |delta: Value| json!({"model": "gpt-5", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
    let piece = |index: u64, text: &str| json!({"index": index, "function": {"arguments": text}});
    let start = |index: u64, name: &str| json!({"index": index, "id": name, "function": {"name": name, "arguments": ""}});
    let stream = events(&[
        delta(json!({"role": "assistant", "content": ""})),
        delta(json!({"content": "Let me "})),
        delta(json!({"content": "see", "reasoning_content": "hm"})),
        delta(json!({"tool_calls": [start(0, "a"), start(1, "b")]})),
        delta(json!({"tool_calls": [piece(0, "{\"x\"")]})),
        delta(json!({"tool_calls": [piece(1, "{}")]})),
        delta(json!({"tool_calls": [piece(0, ":1}")]})),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        json!({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}}),
    ]);
    let read = http(CHAT, &json!({"model": "gpt-5", "messages": []}), &stream);
    assert_eq!(
        read["answer"],
        json!({"role": "assistant", "text": "Let me see", "reasoning": "hm", "toolCalls": [
            {"id": "a", "name": "a", "arguments": {"x": 1}}, {"id": "b", "name": "b", "arguments": {}}]})
    );
    assert_eq!(read["finishReason"], "tool_calls");
    assert_eq!(read["usage"], usage(1, 2));
}

#[test]
fn openai_responses_whole_streamed_and_cut() {
    let url = "https://api.openai.com/v1/responses";
    let body = json!({"model": "gpt-5", "instructions": "be brief", "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "21"},
    ], "tools": [{"type": "function", "name": "weather"}, {"type": "web_search"}]});
    let whole = json!({"model": "gpt-5", "status": "completed", "incomplete_details": null, "output": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "so"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Cold."}]},
        {"type": "function_call", "call_id": "c2", "name": "coat", "arguments": "{\"n\":1}"},
    ], "usage": {"input_tokens": 4, "output_tokens": 2, "total_tokens": 6}});
    let read = http(url, &body, &json!({"json": whole}));
    assert_eq!(read["api"], "openai-responses");
    assert_eq!(
        read["messages"],
        json!([
            {"role": "system", "text": "be brief"},
            {"role": "user", "text": "hi"},
            {"role": "assistant", "reasoning": "hm"},
            {"role": "assistant", "toolCalls": [{"id": "c1", "name": "weather", "arguments": {}}]},
            {"role": "tool", "text": "21", "toolCallId": "c1"},
        ])
    );
    assert_eq!(read["tools"], json!(["weather", "web_search"]));
    let answer = json!({"role": "assistant", "text": "Cold.", "reasoning": "so",
        "toolCalls": [{"id": "c2", "name": "coat", "arguments": {"n": 1}}]});
    assert_eq!(
        (&read["answer"], &read["finishReason"]),
        (&answer, &json!("completed"))
    );
    let pieces = [
        json!({"type": "response.created", "response": {"model": "gpt-5", "output": []}}),
        json!({"type": "response.output_text.delta", "output_index": 1, "delta": "Co"}),
        json!({"type": "response.output_item.added", "output_index": 2,
            "item": {"type": "function_call", "call_id": "c2", "name": "coat", "arguments": ""}}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{\"n\""}),
    ];
    let cut = http(url, &body, &events(&pieces));
    assert_eq!(
        cut["answer"],
        json!({"role": "assistant", "text": "Co", "toolCalls": [{"id": "c2", "name": "coat", "arguments": "{\"n\""}]})
    );
    let completed = [
        &pieces[..],
        &[json!({"type": "response.completed", "response": whole})],
    ]
    .concat();
    let streamed = http(url, &body, &events(&completed));
    assert_eq!(
        (&streamed["answer"], &streamed["usage"]),
        (&answer, &usage(4, 2))
    );
}

#[test]
fn anthropic() {
    let url = "https://api.anthropic.com/v1/messages";
    let body = json!({"model": "claude", "system": [{"type": "text", "text": "be brief"}], "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Oslo"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1",
            "content": [{"type": "text", "text": "21"}, {"type": "image", "source": {}}]}]},
    ], "tools": [{"name": "weather", "input_schema": {}}]});
    let counts = json!({"input_tokens": 3, "cache_read_input_tokens": 7, "output_tokens": 1});
    let stream = events(&[
        json!({"type": "message_start", "message": {"model": "claude", "role": "assistant", "content": [], "usage": counts}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "so"}}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Let me"}}),
        json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "t2", "name": "coat", "input": {}}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "{\"n\":"}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "1}"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ]);
    let read = http(url, &body, &stream);
    assert_eq!(
        read["messages"],
        json!([
            {"role": "system", "text": "be brief"},
            {"role": "user", "text": "hi"},
            {"role": "assistant", "reasoning": "hm", "toolCalls": [{"id": "t1", "name": "weather", "arguments": {"city": "Oslo"}}]},
            {"role": "tool", "text": "21[image]", "toolCallId": "t1"},
        ])
    );
    let answer = json!({"role": "assistant", "text": "Let me", "reasoning": "so",
        "toolCalls": [{"id": "t2", "name": "coat", "arguments": {"n": 1}}]});
    assert_eq!(
        (&read["answer"], &read["usage"], &read["finishReason"]),
        (&answer, &usage(10, 9), &json!("tool_use"))
    );
    let whole = json!({"json": {"model": "claude", "role": "assistant", "type": "message", "content": [
        {"type": "thinking", "thinking": "so"}, {"type": "text", "text": "Let me"},
        {"type": "tool_use", "id": "t2", "name": "coat", "input": {"n": 1}}], "stop_reason": "tool_use", "usage": counts}});
    assert_eq!(http(url, &body, &whole)["answer"], answer);
}

#[test]
fn gemini() {
    let url = "https://host/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse";
    let body = json!({"systemInstruction": {"parts": [{"text": "be brief"}]}, "contents": [
        {"role": "user", "parts": [{"text": "hi"}, {"inlineData": {"mimeType": "image/png", "data": "AA"}}]},
        {"role": "model", "parts": [{"functionCall": {"name": "weather", "args": {"city": "Oslo"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": {"c": 21}}}]},
    ], "tools": [{"functionDeclarations": [{"name": "weather"}, {"name": "coat"}]}]});
    let chunk =
        |parts: Value| json!({"candidates": [{"content": {"role": "model", "parts": parts}}]});
    let stream = events(&[
        chunk(json!([{"text": "hm", "thought": true}])),
        chunk(json!([{"text": "Co"}])),
        chunk(json!([{"text": "ld"}, {"functionCall": {"name": "coat", "args": {}}}])),
        json!({"candidates": [{"finishReason": "STOP", "content": {"parts": [{"text": "."}]}}],
            "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "thoughtsTokenCount": 4, "totalTokenCount": 9}}),
    ]);
    let read = http(url, &body, &stream);
    assert_eq!(
        (&read["api"], &read["model"], &read["tools"]),
        (
            &json!("gemini"),
            &json!("gemini-3-pro"),
            &json!(["weather", "coat"])
        )
    );
    assert_eq!(
        read["messages"],
        json!([
            {"role": "system", "text": "be brief"},
            {"role": "user", "text": "hi", "media": ["inlineData"]},
            {"role": "assistant", "toolCalls": [{"name": "weather", "arguments": {"city": "Oslo"}}]},
            {"role": "tool", "text": "{\"c\":21}", "name": "weather"},
        ])
    );
    assert_eq!(
        read["answer"],
        json!({"role": "assistant", "text": "Cold.", "reasoning": "hm", "toolCalls": [{"name": "coat", "arguments": {}}]})
    );
    assert_eq!(
        (&read["usage"], &read["finishReason"]),
        (&usage(3, 6), &json!("STOP"))
    );
}

/// A frame of `application/vnd.amazon.eventstream` without headers. The checksums are not read.
fn frame(event: &Value) -> Vec<u8> {
    let payload = event.to_string().into_bytes();
    let length = u32::try_from(payload.len() + 16).unwrap();
    [&length.to_be_bytes()[..], &[0; 8], &payload, &[0; 4]].concat()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: Vec<bool> = bytes
        .iter()
        .flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1))
        .collect();
    let digit = |bits: &[bool]| {
        let value = (0..6).fold(0, |value, bit| {
            value << 1 | usize::from(bits.get(bit) == Some(&true))
        });
        char::from(DIGITS[value])
    };
    bits.chunks(6).map(digit).collect()
}

#[test]
fn bedrock() {
    let url = "https://host/model/anthropic.claude-3%3A0/converse-stream";
    let body = json!({"system": [{"text": "be brief"}], "messages": [
        {"role": "user", "content": [{"text": "hi"}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "weather", "input": {"city": "Oslo"}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t1", "content": [{"json": {"c": 21}}]}}]},
    ], "toolConfig": {"tools": [{"toolSpec": {"name": "weather"}}]}});
    let frames = [
        json!({"role": "assistant"}),
        json!({"contentBlockIndex": 0, "delta": {"text": "Co"}}),
        json!({"contentBlockIndex": 0, "delta": {"text": "ld"}}),
        json!({"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "t2", "name": "coat"}}}),
        json!({"contentBlockIndex": 1, "delta": {"toolUse": {"input": "{\"n\":1}"}}}),
        json!({"stopReason": "tool_use"}),
        json!({"usage": {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}}),
    ];
    let bytes: Vec<u8> = frames.iter().flat_map(frame).collect();
    let read = http(url, &body, &json!({"bytes": base64(&bytes)}));
    assert_eq!(
        (&read["api"], &read["model"], &read["tools"]),
        (
            &json!("bedrock"),
            &json!("anthropic.claude-3:0"),
            &json!(["weather"])
        )
    );
    assert_eq!(
        read["messages"],
        json!([
            {"role": "system", "text": "be brief"},
            {"role": "user", "text": "hi"},
            {"role": "assistant", "toolCalls": [{"id": "t1", "name": "weather", "arguments": {"city": "Oslo"}}]},
            {"role": "tool", "text": "{\"c\":21}", "toolCallId": "t1"},
        ])
    );
    let answer = json!({"role": "assistant", "text": "Cold", "toolCalls": [{"id": "t2", "name": "coat", "arguments": {"n": 1}}]});
    assert_eq!(
        (&read["answer"], &read["usage"], &read["finishReason"]),
        (&answer, &usage(3, 2), &json!("tool_use"))
    );
    let whole = json!({"json": {"output": {"message": {"role": "assistant", "content": [
        {"text": "Cold"}, {"toolUse": {"toolUseId": "t2", "name": "coat", "input": {"n": 1}}}]}}, "stopReason": "tool_use",
        "usage": {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}}});
    let read = http(url, &body, &whole);
    assert_eq!((&read["answer"], &read["usage"]), (&answer, &usage(3, 2)));
    // Models of Anthropic, by the API for any model.
    let event = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}});
    let bytes = frame(&json!({"bytes": base64(event.to_string().as_bytes())}));
    let read = http(
        "https://host/model/claude/invoke-with-response-stream",
        &body,
        &json!({"bytes": base64(&bytes)}),
    );
    assert_eq!(read["answer"], json!({"role": "assistant", "text": "Hi"}));
}

#[test]
fn ollama_and_cohere() {
    let body = json!({"model": "llama3", "messages": [{"role": "user", "content": "hi", "images": ["AA"]}]});
    let lines = [
        json!({"model": "llama3", "message": {"role": "assistant", "content": "Co", "thinking": "hm"}, "done": false}),
        json!({"model": "llama3", "message": {"role": "assistant", "content": "ld",
            "tool_calls": [{"function": {"name": "coat", "arguments": {"n": 1}}}]}, "done": false}),
        json!({"message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
            "prompt_eval_count": 3, "eval_count": 2}),
    ];
    let text = lines.map(|line| line.to_string() + "\n").concat();
    let read = http(
        "http://localhost:11434/api/chat",
        &body,
        &json!({"text": text}),
    );
    assert_eq!(read["api"], "ollama");
    assert_eq!(
        read["messages"],
        json!([{"role": "user", "text": "hi", "media": ["image"]}])
    );
    assert_eq!(
        read["answer"],
        json!({"role": "assistant", "text": "Cold", "reasoning": "hm", "toolCalls": [{"name": "coat", "arguments": {"n": 1}}]})
    );
    assert_eq!(
        (&read["usage"], &read["finishReason"]),
        (&usage(3, 2), &json!("stop"))
    );

    let content = |text: &str| json!({"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": text}}}});
    let call =
        json!({"id": "c1", "type": "function", "function": {"name": "coat", "arguments": ""}});
    let stream = events(&[
        json!({"type": "message-start", "delta": {"message": {"role": "assistant"}}}),
        content("Co"),
        content("ld"),
        json!({"type": "tool-call-start", "index": 1, "delta": {"message": {"tool_calls": call}}}),
        json!({"type": "tool-call-delta", "index": 1, "delta": {"message": {"tool_calls": {"function": {"arguments": "{}"}}}}}),
        json!({"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": {"tokens": {"input_tokens": 3, "output_tokens": 2}}}}),
    ]);
    let read = http("https://api.cohere.com/v2/chat", &body, &stream);
    assert_eq!(
        read["answer"],
        json!({"role": "assistant", "text": "Cold", "toolCalls": [{"id": "c1", "name": "coat", "arguments": {}}]})
    );
    assert_eq!(
        (&read["usage"], &read["finishReason"]),
        (&usage(3, 2), &json!("COMPLETE"))
    );
}

#[test]
fn ai_sdk() {
    let request = json!({"name": "gpt-5", "input": {"type": "stream", "provider": "openai.responses", "model": "gpt-5", "prompt": [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "file", "mediaType": "image/png"}]},
        {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "t1", "toolName": "weather", "input": {"city": "Oslo"}}]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "t1", "toolName": "weather", "output": {"type": "json", "value": {"c": 21}}}]},
    ], "tools": [{"type": "function", "name": "weather"}]}});
    let counts = json!({"inputTokens": {"total": 3}, "outputTokens": {"total": 2}});
    let parts = json!([
        {"type": "stream-start", "warnings": []},
        {"type": "response-metadata", "modelId": "gpt-5-2026"},
        {"type": "reasoning-delta", "id": "0", "delta": "hm"},
        {"type": "text-start", "id": "1"},
        {"type": "text-delta", "id": "1", "delta": "Co"},
        {"type": "text-delta", "id": "1", "delta": "ld"},
        {"type": "tool-input-delta", "id": "t2", "delta": "{"},
        {"type": "tool-call", "toolCallId": "t2", "toolName": "coat", "input": "{\"n\":1}"},
        {"type": "finish", "finishReason": {"unified": "tool-calls", "raw": "x"}, "usage": counts},
    ]);
    let read = exchange("model", &request, &json!({"result": {}, "parts": parts}));
    assert_eq!(
        (&read["api"], &read["model"]),
        (&json!("ai-sdk"), &json!("gpt-5"))
    );
    assert_eq!(
        read["messages"],
        json!([
            {"role": "system", "text": "be brief"},
            {"role": "user", "text": "hi", "media": ["file"]},
            {"role": "assistant", "toolCalls": [{"id": "t1", "name": "weather", "arguments": {"city": "Oslo"}}]},
            {"role": "tool", "text": "{\"c\":21}", "toolCallId": "t1", "name": "weather"},
        ])
    );
    let answer = json!({"role": "assistant", "text": "Cold", "reasoning": "hm", "toolCalls": [{"id": "t2", "name": "coat", "arguments": {"n": 1}}]});
    assert_eq!(
        (&read["answer"], &read["usage"], &read["finishReason"]),
        (&answer, &usage(3, 2), &json!("tool-calls"))
    );
    let whole = json!({"content": [{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "Cold"},
        {"type": "tool-call", "toolCallId": "t2", "toolName": "coat", "input": "{\"n\":1}"}],
        "finishReason": "tool-calls", "usage": {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}});
    let read = exchange("model", &request, &whole);
    assert_eq!(
        (&read["answer"], &read["usage"], &read["finishReason"]),
        (&answer, &usage(3, 2), &json!("tool-calls"))
    );
}

#[test]
fn agents_tools_and_mcp() {
    let request = json!({"messages": [{"role": "user", "content": "hi"}], "model": {"id": "gpt-5", "provider": "openai"},
        "tools": [{"name": "weather", "parameters": {}}]}).to_string();
    let output = json!({"role": "assistant", "content": null,
        "tool_calls": [{"id": "c1", "name": "weather", "arguments": "{\"city\":\"Oslo\"}"}]})
    .to_string();
    let meta = json!({"finishReason": "tool_calls", "usage": {"promptTokens": 3, "completionTokens": 2, "totalTokens": 5}}).to_string();
    let read = serde_json::to_value(read(Documents {
        kind: "prompt",
        request: Some(&request),
        output: Some(&output),
        meta: Some(&meta),
    }))
    .unwrap();
    assert_eq!(
        read,
        json!({"api": "agent", "model": "gpt-5", "messages": [{"role": "user", "text": "hi"}], "tools": ["weather"],
            "answer": {"role": "assistant", "toolCalls": [{"id": "c1", "name": "weather", "arguments": {"city": "Oslo"}}]},
            "finishReason": "tool_calls", "usage": usage(3, 2)})
    );
    let asked = json!({"name": "server/weather", "input": {"city": "Oslo"}});
    let tool = json!({"name": "server/weather", "arguments": {"city": "Oslo"}});
    let mcp = exchange(
        "tool",
        &asked,
        &json!({"result": {"content": [{"type": "text", "text": "21"}]}}),
    );
    assert_eq!(
        mcp,
        json!({"api": "tool", "tool": tool, "answer": {"role": "tool", "text": "21"}})
    );
    let own = exchange("tool", &asked, &json!({"celsius": 21}));
    assert_eq!(own["answer"]["text"], "{\"celsius\":21}");
}

#[test]
fn requests_of_an_own_loop_are_recognized_by_their_members() {
    let request = json!({"name": "gpt-5", "input": {"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]}});
    let answer = json!({"choices": [{"message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}]});
    let read = exchange("chat", &request, &answer);
    assert_eq!(read["messages"], json!([{"role": "user", "text": "hi"}]));
    assert_eq!(
        read["answer"],
        json!({"role": "assistant", "text": "Hello"})
    );
}

#[test]
fn errors_and_foreign_documents_lose_nothing_else() {
    let request =
        json!({"input": {"method": "POST", "url": CHAT, "body": {"model": "m", "messages": []}}});
    let refused =
        json!({"status": 429, "body": {"json": {"error": {"message": "slow down", "code": 1}}}});
    let read = exchange("fetch", &request, &refused);
    assert_eq!(
        (&read["status"], &read["answer"]["text"]),
        (&json!(429), &json!("slow down"))
    );
    for output in [
        json!(null),
        json!([1]),
        json!({"status": "x"}),
        json!({"status": 200, "body": {"bytes": "AAAA"}}),
    ] {
        let read = exchange("fetch", &request, &output);
        assert_eq!(
            (&read["model"], read.get("answer")),
            (&json!("m"), None),
            "{output}"
        );
    }
    let deep = format!("{}{}", "[".repeat(900), "]".repeat(900));
    let documents = Documents {
        kind: "step",
        request: Some(&deep),
        output: Some("\"\\ud800 \\\\ud800\""),
        meta: None,
    };
    let read = serde_json::to_value(agent_rewind_core::provider::read(documents)).unwrap();
    assert_eq!(
        read,
        json!({"answer": {"role": "assistant", "text": "\u{FFFD} \\ud800"}})
    );
}
