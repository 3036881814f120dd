// A CSI driver with grpc-js alone, as far as registration sees one. Flags and output: README.md beside this folder.
import { rmSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import { type PluginIdentity, protos } from "../../../src/grpc/protos";

const text = { type: "string" } as const;
const { values: flags } = parseArgs({
  options: {
    socket: { ...text, default: "" },
    name: { ...text, default: "" },
    "node-id": { ...text, default: "node-1" },
    "vendor-version": { ...text, default: "1.0" },
    manifest: { ...text, multiple: true, default: [] },
    "response-bytes": { ...text, default: "0" },
    error: text,
    "delay-ms": { ...text, default: "0" },
    times: { ...text, default: "Infinity" },
    "headers-first": { type: "boolean", default: false },
    "max-connection-age-ms": text,
  },
});
const info = pluginInfo();
let timesLeft = Number(flags.times);

function pluginInfo(): PluginIdentity {
  const entries = flags.manifest.map((entry) => split(entry, "="));
  const manifest: Record<string, string> = Object.fromEntries(entries);
  const wantedBytes = Number(flags["response-bytes"]);
  const identity = { name: flags.name, vendorVersion: flags["vendor-version"], manifest };
  if (wantedBytes > 0) {
    manifest.filler = "x".repeat(wantedBytes);
    const excess = protos.identity.GetPluginInfo.responseSerialize(identity).length - wantedBytes;
    manifest.filler = manifest.filler.slice(excess);
  }
  return identity;
}

function split(word: string, separator: string): readonly [string, string] {
  const at = word.indexOf(separator);
  return [word.slice(0, at), word.slice(at + 1)];
}

async function getPluginInfo(call: ServerUnaryCall<unknown, PluginIdentity>): Promise<PluginIdentity> {
  if (flags["headers-first"]) call.sendMetadata(new Metadata());
  if (--timesLeft < 0) return info;
  await delay(Number(flags["delay-ms"]));
  if (flags.error === undefined) return info;
  const [code, details] = split(flags.error, ":");
  throw Object.assign(new Error(details), { code: status[code as keyof typeof status], details });
}

function told<Response>(answer: (call: ServerUnaryCall<unknown, Response>) => Response | Promise<Response>) {
  return (call: ServerUnaryCall<unknown, Response>, callback: sendUnaryData<Response>): void => {
    const method = call.getPath().split("/").at(-1);
    tell({ event: "called", method, authority: call.getHost(), metadata: call.metadata.getMap() });
    Promise.resolve(answer(call)).then((response) => callback(null, response), callback);
  };
}

function tell(event: object): void {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

const age = flags["max-connection-age-ms"];
const server = new Server(age === undefined ? {} : { "grpc.max_connection_age_ms": Number(age) });
server.addService(protos.identity, {
  GetPluginInfo: told(getPluginInfo),
  GetPluginCapabilities: told(() => ({ capabilities: [] })),
  Probe: told(() => ({ ready: { value: true } })),
});
server.addService(protos.node, {
  NodeGetCapabilities: told(() => ({ capabilities: [] })),
  NodeGetInfo: told(() => ({ nodeId: flags["node-id"], maxVolumesPerNode: 0, accessibleTopology: null })),
});
rmSync(flags.socket, { force: true });
server.bindAsync(`unix:${flags.socket}`, ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
  tell({ event: "started" });
});

const end = () => {
  rmSync(flags.socket, { force: true });
  process.exit(0);
};
process.once("SIGTERM", end);
process.once("SIGINT", end);
process.stdin.resume().once("end", end);
