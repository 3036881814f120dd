import { Session } from "node:inspector/promises";
import { setTimeout as delay } from "node:timers/promises";
import { getHeapSnapshot } from "node:v8";
import type { PROFILE_PATHS } from "./endpoint";
import { type HttpAnswer, textAnswer } from "./http/connection";
import type { Route } from "./server";

const DEFAULT_SECONDS = 30;
const MAX_SECONDS = 300;

const INDEX = `/debug/pprof/profile?seconds=30   CPU profile, for Chrome DevTools or speedscope
/debug/pprof/heap                 heap snapshot, for Chrome DevTools; stops the process while it is taken
/debug/pprof/cmdline              command line, separated by NUL
`;

const BUSY = textAnswer(409, "another profile is being taken\n");

/** The routes of --enable-pprof. One profile at a time: a heap snapshot takes as much memory as the heap. */
export function createProfilingRoutes(commandLine: readonly string[]): ReadonlyMap<string, Route> {
  let isBusy = false;
  const end = () => {
    isBusy = false;
  };

  const profile: Route = async ({ query }, signal) => {
    const asked = Number(query.get("seconds") ?? DEFAULT_SECONDS);
    if (!(asked > 0 && asked <= MAX_SECONDS))
      return textAnswer(400, `seconds must be more than 0 and at most ${MAX_SECONDS}\n`);
    if (isBusy) return BUSY;
    isBusy = true;
    const session = new Session();
    session.connect();
    try {
      await session.post("Profiler.enable");
      await session.post("Profiler.start");
      await delay(asked * 1000, undefined, { signal });
      const { profile } = await session.post("Profiler.stop");
      return download("cpu.cpuprofile", JSON.stringify(profile));
    } finally {
      session.disconnect();
      end();
    }
  };

  const heap: Route = async () => {
    if (isBusy) return BUSY;
    isBusy = true;
    return download("heap.heapsnapshot", getHeapSnapshot().once("close", end));
  };

  const routes: Readonly<Record<(typeof PROFILE_PATHS)[number], Route>> = {
    "/debug/pprof/": () => textAnswer(200, INDEX),
    "/debug/pprof/cmdline": () => textAnswer(200, commandLine.join("\0")),
    "/debug/pprof/profile": profile,
    "/debug/pprof/heap": heap,
  };
  return new Map(Object.entries(routes));
}

function download(name: string, body: HttpAnswer["body"]): HttpAnswer {
  const headers = {
    "content-type": "application/octet-stream",
    "content-disposition": `attachment; filename="${name}"`,
  };
  return { status: 200, headers, body };
}
