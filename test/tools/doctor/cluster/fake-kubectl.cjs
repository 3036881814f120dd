// Stands for kubectl where the doctor calls `kubectl proxy`: answers each request as the file ANSWERS has it. With
// REAL_KUBECTL it passes all to that program, and writes what came back into that file, as if it were five minutes later: what an
// API server was given a moment ago is new otherwise.
const { spawn } = require("node:child_process");
const { readFileSync, writeFileSync } = require("node:fs");
const http = require("node:http");

const { ANSWERS = "", REAL_KUBECTL } = process.env;
const LATER_MS = 5 * 60_000;
const [verb, ...words] = process.argv.slice(2);
const socketPath = words.find((word) => word.startsWith("--unix-socket="))?.slice("--unix-socket=".length);
if (verb !== "proxy" || socketPath === undefined) {
  process.stderr.write(`fake kubectl: what is meant by ${verb} ${words.join(" ")}?\n`);
  process.exit(1);
}

/** Most of an object are the managers of its fields, which no test needs. */
const withoutManagers = (body) =>
  JSON.parse(JSON.stringify(body, (key, value) => (key === "managedFields" ? undefined : value)));

function replay() {
  const { date, answers } = JSON.parse(readFileSync(ANSWERS, "utf8"));
  serve((request, response) => {
    const { status = 404, body = { kind: "Status", code: 404, message: `not recorded: ${request.url}` } } =
      answers[request.url] ?? {};
    response.writeHead(status, { "content-type": "application/json", date }).end(JSON.stringify(body));
  });
}

function record(program) {
  const behind = `${socketPath}.real`;
  const others = words.filter((word) => !word.startsWith("--unix-socket="));
  const child = spawn(program, [verb, `--unix-socket=${behind}`, ...others], {
    stdio: ["inherit", "pipe", "inherit"],
  });
  child.once("exit", (code) => process.exit(code ?? 1));
  process.once("SIGTERM", () => child.kill());
  const answers = {};
  let date = "";
  const forward = (request, response) => {
    const { url, headers } = request;
    http
      .get({ socketPath: behind, path: url, headers: { ...headers, host: "localhost" } }, async (answer) => {
        const chunks = [];
        for await (const chunk of answer) chunks.push(chunk);
        const text = Buffer.concat(chunks).toString("utf8");
        date = new Date(Date.parse(answer.headers.date) + LATER_MS).toUTCString();
        // The proxy itself answers in words where it does not reach the server.
        const type = answer.headers["content-type"] ?? "";
        if (type.includes("json")) {
          answers[url] = { status: answer.statusCode, body: withoutManagers(JSON.parse(text)) };
          const sorted = Object.fromEntries(Object.entries(answers).sort());
          writeFileSync(ANSWERS, `${JSON.stringify({ date, answers: sorted }, null, 1)}\n`);
        }
        response.writeHead(answer.statusCode, { "content-type": type, date }).end(text);
      })
      .once("error", (error) => response.writeHead(502).end(error.message));
  };
  child.stdout.once("data", () => serve(forward));
}

function serve(handler) {
  const server = http.createServer(handler);
  server.listen(socketPath, () => process.stdout.write(`Starting to serve on ${socketPath}\n`));
}

if (REAL_KUBECTL) record(REAL_KUBECTL);
else replay();
