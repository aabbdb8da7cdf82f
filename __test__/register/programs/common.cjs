const http = require("node:http");

http.get(`${process.env.BASE}/common`, (response) => {
  response.setEncoding("utf8").on("data", (text) => console.log(text));
});
