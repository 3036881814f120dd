import { fileURLToPath } from "node:url";
import {
  type GrpcObject,
  type handleUnaryCall,
  loadPackageDefinition,
  type ServiceClientConstructor,
  status,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

/** NodePublishVolume's request, as far as this driver reads it. */
export interface PublishRequest {
  readonly volumeId: string;
  readonly targetPath: string;
  readonly volumeCapability: { readonly block?: object | null } | null;
  /** The volume's attributes, and what kubelet adds about the pod. */
  readonly volumeContext: Readonly<Record<string, string>>;
}

export interface UnpublishRequest {
  readonly volumeId: string;
  readonly targetPath: string;
}

const file = fileURLToPath(new URL("../csi.proto", import.meta.url));
const { v1 } = loadPackageDefinition(loadSync(file, { defaults: true })).csi as GrpcObject;
const services = v1 as Readonly<Record<"Identity" | "Node", ServiceClientConstructor>>;

/** The two services' stubs. */
export const csi = { identity: services.Identity.service, node: services.Node.service };

/** What a call is to end with. Kubelet shows the text in the pod's events. */
export function failure(code: Exclude<keyof typeof status, "OK">, text: string): Error {
  return Object.assign(new Error(text), { code: status[code] });
}

/** A method from a function of its request: grpc-js leaves a client waiting whose handler rejects. */
export function answering<Request>(
  answer: (request: Request) => object | Promise<object>,
): handleUnaryCall<Request, object> {
  return async ({ request }, callback) => {
    try {
      callback(null, await answer(request));
    } catch (error) {
      callback(error as Error);
    }
  };
}
