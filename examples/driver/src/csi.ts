import { fileURLToPath } from "node:url";
import { loadSync } from "@grpc/proto-loader";
import { loadPackageDefinition, status } from "registrar/grpc";
import type { ProtoGrpcType } from "../types/csi.ts";

export type { IdentityHandlers } from "../types/csi/v1/Identity.ts";
export type { NodeHandlers } from "../types/csi/v1/Node.ts";
export type { NodePublishVolumeRequest__Output as PublishRequest } from "../types/csi/v1/NodePublishVolumeRequest.ts";

const file = fileURLToPath(new URL("../csi.proto", import.meta.url));
// Loaded as `npm run types` writes the types: with `--defaults`.
const loaded: unknown = loadPackageDefinition(loadSync(file, { defaults: true }));
const { v1 } = (loaded as ProtoGrpcType).csi;

/** The two services' stubs. */
export const csi = { identity: v1.Identity.service, node: v1.Node.service };

/** What a call is to end with. Kubelet shows the text in the pod's events. */
export function failure(code: Exclude<keyof typeof status, "OK">, text: string): Error {
  return Object.assign(new Error(text), { code: status[code] });
}
