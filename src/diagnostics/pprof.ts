import { Session } from "node:inspector/promises";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { getHeapSnapshot } from "node:v8";
import type { PROFILE_PATHS } from "./metrics-path";
import type { Route } from "./server";

const DEFAULT_SECONDS = 30;
const MAX_SECONDS = 300;

const INDEX = `Profiles of this process, on the paths of Go's net/http/pprof, in V8's formats:

/debug/pprof/profile?seconds=30   CPU profile (.cpuprofile: Chrome DevTools, speedscope)
/debug/pprof/heap                 heap snapshot (.heapsnapshot: Chrome DevTools); stops the process while it is taken
/debug/pprof/cmdline              command line, separated by NUL
`;

/**
 * The routes of --enable-pprof. One profile of a kind at a time: each heap snapshot weighs as much as the heap. A CPU
 * profile ends when its client leaves.
 */
export function createProfilingRoutes(commandLine: readonly string[]): ReadonlyMap<string, Route> {
  let profiling = false;
  let snapshooting = false;

  const profile: Route = async (request, response) => {
    const asked = Number(
      new URL(request.url ?? "/", "http://localhost").searchParams.get("seconds") ?? DEFAULT_SECONDS,
    );
    if (!(asked > 0 && asked <= MAX_SECONDS))
      return void response.writeHead(400).end(`seconds must be more than 0 and at most ${MAX_SECONDS}\n`);
    if (profiling) return void response.writeHead(409).end("a CPU profile is being taken already\n");
    profiling = true;
    const session = new Session();
    session.connect();
    const left = new AbortController();
    response.once("close", () => left.abort());
    try {
      await session.post("Profiler.enable");
      await session.post("Profiler.start");
      await delay(asked * 1000, undefined, { signal: left.signal }).catch(() => {});
      if (left.signal.aborted) return;
      const { profile } = await session.post("Profiler.stop");
      download(response, "cpu.cpuprofile").end(JSON.stringify(profile));
    } finally {
      session.disconnect();
      profiling = false;
    }
  };

  const heap: Route = async (_request, response) => {
    if (snapshooting) return void response.writeHead(409).end("a heap snapshot is being taken already\n");
    snapshooting = true;
    try {
      await pipeline(getHeapSnapshot(), download(response, "heap.heapsnapshot"));
    } catch {
      // Whoever asked for it has left.
    } finally {
      snapshooting = false;
    }
  };

  const text =
    (body: string): Route =>
    (_request, response) => {
      response.writeHead(200, { "content-type": "text/plain; charset=utf-8" }).end(body);
    };

  const routes: Readonly<Record<(typeof PROFILE_PATHS)[number], Route>> = {
    "/debug/pprof/": text(INDEX),
    "/debug/pprof/cmdline": text(commandLine.join("\0")),
    "/debug/pprof/profile": profile,
    "/debug/pprof/heap": heap,
  };
  return new Map(Object.entries(routes));
}

function download(response: Parameters<Route>[1], name: string): Parameters<Route>[1] {
  const disposition = `attachment; filename="${name}"`;
  return response.writeHead(200, {
    "content-type": "application/octet-stream",
    "content-disposition": disposition,
  });
}
