import { readFileSync } from "node:fs";
import { join } from "node:path";
import { programFolder } from "../kubelet/support/versions";

/** The release of grpc-go that a kubelet is built with, and we build it with. */
export function grpcGoOf(kubelet: string): string {
  const text = readFileSync(join(programFolder, "versions", `${kubelet}.mod`), "utf8");
  return parseGrpcGo(text);
}

/**
 * Whether it calls drivers with their socket's path as :authority, as grpc-go did: `newGrpcConn` in
 * pkg/volume/csi/csi_client.go says `localhost` since 1.26.
 */
export function sendsPathToDrivers(kubelet: string): boolean {
  return Number(kubelet.split(".")[1]) < 26;
}

/** Of a go.mod: what replaces it counts, and not what is required. */
export function parseGrpcGo(text: string): string {
  const replaced = /^\s*google\.golang\.org\/grpc(?: v\S+)? => google\.golang\.org\/grpc v(\S+)$/m.exec(text);
  const required = /^\s*google\.golang\.org\/grpc v(\S+)(?: \/\/ indirect)?$/m.exec(text);
  const version = (replaced ?? required)?.[1];
  if (version === undefined) throw new Error("there is no grpc-go in it");
  return version;
}
