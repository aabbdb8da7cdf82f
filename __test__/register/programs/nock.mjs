// nock answers some requests, the server the others.
import axios from "axios";
import nock from "nock";

const base = process.env.BASE;
nock("http://mocked.invalid").get("/a").reply(200, "from the mock 1");
console.log(await (await fetch("http://mocked.invalid/a")).text());
console.log(await (await fetch(`${base}/beside`)).text());
nock.restore();
console.log((await axios.get(`${base}/after`)).data);
