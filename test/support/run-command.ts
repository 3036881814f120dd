import { join } from "node:path";
import { type ChildProcess, type Output, spawnProcess } from "./child-process";
import { registrarCommand } from "./registrar-command";

const HOST = join(__dirname, "command-host.cjs");

let host: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();
afterAll(() => host?.kill());

/** Runs a line of the built CLI in the one process of a test file: a process of its own costs ten times as much. */
export function runCommand(...words: readonly string[]) {
  const finished = last.then(() => runNow(words));
  last = finished.catch(() => {});
  return finished;
}

async function runNow(words: readonly string[]) {
  const [program, ...before] = registrarCommand();
  host ??= spawnProcess(program, [HOST, ...before], { env: { COLUMNS: "" } });
  const written = [writtenFromNowOn(host.stdout), writtenFromNowOn(host.stderr)] as const;
  host.writeLine(JSON.stringify(words));
  const [[stdout, status], [stderr]] = await Promise.all(written);
  return { status, stdout, stderr };
}

async function writtenFromNowOn(output: Output): Promise<readonly [text: string, status: number]> {
  const begin = output.all().length;
  const end = await output.waitFor((line) => line.includes("\0"), begin);
  const [rest = "", status] = end.split("\0");
  const lines = output.all().slice(begin);
  return [[...lines.slice(0, lines.indexOf(end)), rest].join("\n"), Number(status)];
}
