import { fromJSON, type MethodDefinition } from "@grpc/proto-loader";
import type { IdentityDefinition } from "./contracts/csi/v1/Identity";
import type { NodeDefinition } from "./contracts/csi/v1/Node";
import descriptors from "./contracts/descriptors.json";
import type { RegistrationDefinition } from "./contracts/pluginregistration/Registration";

export type { GetPluginCapabilitiesResponse as PluginCapabilities } from "./contracts/csi/v1/GetPluginCapabilitiesResponse";
export type { GetPluginInfoResponse as PluginIdentity } from "./contracts/csi/v1/GetPluginInfoResponse";
export type { NodeGetCapabilitiesResponse as NodeCapabilities } from "./contracts/csi/v1/NodeGetCapabilitiesResponse";
export type { NodeGetInfoResponse as NodeInfo } from "./contracts/csi/v1/NodeGetInfoResponse";
export type { ProbeResponse } from "./contracts/csi/v1/ProbeResponse";
export type { PluginInfo } from "./contracts/pluginregistration/PluginInfo";
export type { RegistrationStatus } from "./contracts/pluginregistration/RegistrationStatus";

/** A unary method as its caller needs it. */
export type Unary<Request, Response> = Pick<
  MethodDefinition<Request, object, object, Response>,
  "path" | "requestSerialize" | "responseDeserialize"
>;

export interface Protos {
  /** Kubelet's plugin registration API, `proto/pluginregistration.proto`. */
  readonly registration: Readonly<RegistrationDefinition>;
  /** The parts of CSI that registration touches, `proto/csi.proto`. */
  readonly identity: Readonly<IdentityDefinition>;
  readonly node: Readonly<NodeDefinition>;
}

const PROTOS: Protos = {
  registration: methodsOf<RegistrationDefinition>("pluginregistration.Registration"),
  identity: methodsOf<IdentityDefinition>("csi.v1.Identity"),
  node: methodsOf<NodeDefinition>("csi.v1.Node"),
};

/**
 * The wire contracts as typed methods. Each is made once in a process, when it is first asked for, which takes a
 * millisecond or so.
 */
export function loadProtos(): Protos {
  return PROTOS;
}

/** The definition's type and the descriptors are made of the same file. */
function methodsOf<Definition extends object>(service: keyof typeof descriptors): Definition {
  const methods = {} as Definition;
  for (const [name, descriptor] of Object.entries<object>(descriptors[service])) {
    let method: unknown;
    const get = () => {
      method ??= methodIn(descriptor, service, name);
      return method;
    };
    Object.defineProperty(methods, name, { enumerable: true, get });
  }
  return methods;
}

function methodIn(descriptor: Parameters<typeof fromJSON>[0], service: string, name: string): unknown {
  const loaded = fromJSON(descriptor, { defaults: true, longs: Number, enums: String });
  return Object.entries(loaded[service] ?? {}).find(([key]) => key === name)?.[1];
}
