// Servers of another process: HTTP/1, HTTP/2 without TLS, and one with a protocol of its own. Answers each message of its
// parent with what arrived since the last one.
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";

let requests = [];
const answer = (request, response) => {
  requests.push(`${request.method} ${request.url}`);
  request.resume();
  request.on("end", () => response.end("{}"));
};
const database = net.createServer((socket) => {
  socket.on("error", () => {});
  socket.on("data", (bytes) => {
    requests.push(`TCP ${String(bytes)}`);
    socket.write(`rows of ${String(bytes)}`);
  });
});
const servers = [http.createServer({ keepAliveTimeout: 120_000 }, answer), http2.createServer(answer), database];
for (const server of servers) await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
process.on("message", () => {
  process.send(requests);
  requests = [];
});
process.send(servers.map((server) => server.address().port));
