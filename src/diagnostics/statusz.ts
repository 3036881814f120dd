import { boundText } from "../logging/bound";
import { escapeJson } from "../logging/escape";
import type { Fleet } from "../registrar/fleet";
import type { Registrar } from "../registrar/start-registrar";
import type { ProcessFacts } from "./metric-table";
import type { Route } from "./server";

/**
 * `/statusz`: what is going on, for people; as JSON for whoever sends `Accept: application/json`. The head follows
 * Kubernetes' components (KEP-4827); below it stands the driver's state, its latest changes, and what was counted.
 */
export function createStatusRoute(fleet: Fleet, facts: ProcessFacts): Route {
  return (request, response) => {
    const wantsJson = /\bapplication\/json\b/.test(request.headers.accept ?? "");
    const page = describe(fleet, facts, Date.now());
    response.writeHead(200, {
      "content-type": wantsJson ? "application/json" : "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
    });
    response.end(wantsJson ? `${escapeJson(JSON.stringify(page, null, 2))}\n` : asText(page));
  };
}

const time = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString());

function describe(fleet: Fleet, facts: ProcessFacts, now: number) {
  return {
    started: time(facts.startedAt),
    upSeconds: Math.round((now - facts.startedAt) / 1000),
    version: facts.version,
    nodeVersion: facts.nodeVersion,
    drivers: fleet.registrars.map((registrar) => describeDriver(registrar, facts)),
  };
}

function describeDriver({ status, options }: Registrar, facts: ProcessFacts) {
  const { state, history, identity, connected, registrationSocketPath, tally } = status();
  return {
    name: identity?.name,
    vendorVersion: identity && boundText(identity.vendorVersion),
    connected,
    state,
    since: time(history.at(-1)?.at ?? facts.startedAt),
    socket: registrationSocketPath,
    csiAddress: options.csiAddress,
    kubeletRegistrationPath: options.kubeletRegistrationPath,
    pluginRegistrationPath: options.pluginRegistrationPath,
    counters: { ...tally, lastGetInfoAt: time(tally.lastGetInfoAt), lastNoticeAt: time(tally.lastNoticeAt) },
    history: history.map(({ from, to, event, at }) => ({ at: time(at), from, to, event })),
  };
}

/** The same as indented `key: value` lines; a text that would break its line is quoted, for drivers say what they like. */
function asText(value: unknown, indent = ""): string {
  if (typeof value === "string") {
    const quoted = quote(value);
    return `${quoted === `"${value}"` ? value : quoted}\n`;
  }
  if (typeof value !== "object" || value === null) return `${String(value)}\n`;
  return Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .map(([key, one]) => {
      if (key === "history")
        return `${indent}history:\n${(one as Change[]).map((c) => `${indent}  ${asLine(c)}\n`).join("")}`;
      const nested = typeof one === "object" && one !== null;
      return nested ? `${indent}${key}:\n${asText(one, `${indent}  `)}` : `${indent}${key}: ${asText(one)}`;
    })
    .join("");
}

const quote = (text: string) => escapeJson(JSON.stringify(text));

type Change = ReturnType<typeof describeDriver>["history"][number];

function asLine({ at, from, to, event: { kind, ...details } }: Change): string {
  const more = Object.values(details).map(quote);
  return [at, `${from} -> ${to}`, kind, ...more].join("  ");
}
