import { boundTexts, escapeJson, quoteText } from "../logging/escape";
import { reasonOf } from "../registrar/model/status";
import type { Registration } from "../registrar/registration/registration";
import type { Registrations } from "../registrar/registration/registrations";
import { textAnswer } from "./http/connection";
import type { ProcessFacts } from "./metric-table";
import type { Route } from "./server";

/** `/statusz` for people, whose head is that of Kubernetes' components (KEP-4827); JSON with such an Accept header. */
export function createStatusRoute(
  registrations: Registrations,
  facts: ProcessFacts,
  describeNodeReadiness?: () => object,
): Route {
  return ({ accept }) => {
    const wantsJson = /\bapplication\/json\b/.test(accept);
    const page = {
      started: time(facts.startedAt),
      upSeconds: Math.round(facts.uptimeSeconds()),
      version: facts.version,
      nodeVersion: facts.nodeVersion,
      drivers: registrations.all.map((registration) => describeDriver(registration, facts)),
      ...(describeNodeReadiness && { nodeReadiness: describeNodeReadiness() }),
    };
    if (!wantsJson) return textAnswer(200, asText(page));
    const body = `${escapeJson(JSON.stringify(boundTexts(page), null, 2))}\n`;
    return { status: 200, headers: { "content-type": "application/json" }, body };
  };
}

const time = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString());

function describeDriver(registration: Registration, facts: ProcessFacts) {
  const status = registration.status();
  const { state, history, identity, connected, registrationSocketPath, counters } = status;
  const { lastGetInfoAtMs, lastStatusAtMs, ...counts } = counters;
  return {
    name: identity?.name,
    vendorVersion: identity?.vendorVersion,
    connected,
    state,
    trouble: status.trouble?.kind,
    reason: reasonOf(status),
    since: time(history.at(-1)?.atMs ?? facts.startedAt),
    socket: registrationSocketPath,
    csiAddress: registration.csiAddress,
    kubeletRegistrationPath: registration.endpoint,
    pluginRegistrationPath: registration.pluginRegistrationPath,
    counters: { lastGetInfoAt: time(lastGetInfoAtMs), lastStatusAt: time(lastStatusAtMs), ...counts },
    history: history.map(({ from, to, reason, atMs }) => ({ at: time(atMs), from, to, reason })),
  };
}

/** Writes indented `key: value` lines. Texts of drivers that would break their line are quoted. */
function asText(value: object, indent = ""): string {
  const lines = Object.entries(value).map(([place, one]) => {
    if (one === undefined) return "";
    if (place === "history")
      return `${indent}history:\n${(one as Change[]).map((c) => `${indent}  ${asLine(c)}\n`).join("")}`;
    const key = Array.isArray(value) ? plain(one.name ?? one.csiAddress ?? "driver") : place;
    if (typeof one === "object") return `${indent}${key}:\n${asText(one, `${indent}  `)}`;
    return `${indent}${key}: ${typeof one === "string" ? plain(one) : one}\n`;
  });
  return lines.join("");
}

const plain = (text: string) => (quoteText(text) === `"${text}"` ? text : quoteText(text));

type Change = ReturnType<typeof describeDriver>["history"][number];

function asLine({ at, from, to, reason }: Change): string {
  return [at, `${from} -> ${to}`, reason].join("  ");
}
