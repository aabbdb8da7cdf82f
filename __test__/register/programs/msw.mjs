// MSW answers some requests, the server the others.
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";

const base = process.env.BASE;
let mocked = 0;
const answer = () => HttpResponse.text(`from the mock ${(mocked += 1)}`);
const server = setupServer(http.get("http://mocked.invalid/a", answer));
server.listen({ onUnhandledRequest: "bypass" });
console.log(await (await fetch("http://mocked.invalid/a")).text());
console.log(await (await fetch(`${base}/beside`)).text());
server.close();
