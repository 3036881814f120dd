import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { probe } from "../../test/kubelet/support/probe";
import type { Stage } from "./stage";

/** What a registrar lets its users know when kubelet never calls. */
export interface Silence {
  /** Its log from the moment on when its socket is in place, headers and folders left out. */
  readonly log: readonly string[];
  /** HTTP statuses after 35 s. */
  readonly healthz: number;
  readonly readyz: number;
}

const IN_PLACE = "Registration Server started";

/** Runs a registrar for 35 s with a driver and no kubelet. */
export async function observeSilence(stage: Stage): Promise<Silence> {
  const port = await freePort();
  await stage.driver();
  const registrar = await stage.registrar({ flags: [`--http-endpoint=127.0.0.1:${port}`] });
  await registrar.says(IN_PLACE);
  await delay(35_000);
  const status = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
  const lines = registrar.log().map((line) => withoutPlaces(line, stage));
  return {
    log: lines.slice(lines.findIndex((line) => line.includes(IN_PLACE))),
    healthz: await status("/healthz"),
    readyz: await status("/readyz"),
  };
}

/** The :authority headers with which a real grpc-go client got its answers from a registrar, each on one connection. */
export async function observeClients(stage: Stage): Promise<readonly string[]> {
  await stage.driver();
  const registrar = await stage.registrar();
  await registrar.says(IN_PLACE);
  const { registrationSocketPath } = stage.paths;
  const answered: string[] = [];
  for (const authority of ["raw", "encoded", "localhost"]) {
    const calls = ["get-info", "get-info", "notify"];
    const outcomes = await probe({ registrationSocketPath, authority, calls });
    if (outcomes.every(({ error }) => error === undefined)) answered.push(authority);
  }
  return answered;
}

/** Both as Markdown. */
export function observationText(who: string, silence: Silence, clients: readonly string[]): string {
  const { healthz, readyz, log } = silence;
  return [
    `${who}, 35 s without kubelet: /healthz answers ${healthz}, /readyz ${readyz}; the log since its socket is in place:`,
    `\n${["```text", ...log, "```"].join("\n")}\n`,
    `It answers a grpc-go client whose \`:authority\` is ${clients.join(", ") || "none of those tried"}.`,
  ].join("\n");
}

function withoutPlaces(line: string, { pluginRegistrationPath }: Stage): string {
  return line
    .replaceAll(pluginRegistrationPath, "/registration")
    .replace(/^([IWE])\d{4} [\d:.]+ +\d+ (\S+)\]/, "$1 $2]")
    .replace(/127\.0\.0\.1:\d+/, ":9809");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
