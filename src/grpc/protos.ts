import { fromJSON, type MethodDefinition } from "@grpc/proto-loader";
import {
  DESCRIPTORS,
  type IdentityDefinition,
  type NodeDefinition,
  type RegistrationDefinition,
} from "./contracts";

export type {
  GetPluginCapabilitiesResponse as PluginCapabilities,
  GetPluginInfoResponse as PluginIdentity,
  NodeGetCapabilitiesResponse as NodeCapabilities,
  NodeGetInfoResponse as NodeInfo,
  PluginInfo,
  ProbeResponse,
  RegistrationStatus,
} from "./contracts";

/** A unary method as its caller needs it. */
export type Unary<Request, Response> = Pick<
  MethodDefinition<Request, object, object, Response>,
  "path" | "requestSerialize" | "responseDeserialize"
>;

interface Protos {
  /** Kubelet's plugin registration API, `proto/pluginregistration.proto`. */
  readonly registration: Readonly<RegistrationDefinition>;
  /** The parts of CSI that registration touches, `proto/csi.proto`. */
  readonly identity: Readonly<IdentityDefinition>;
  readonly node: Readonly<NodeDefinition>;
}

/**
 * The wire contracts as typed methods. Each is made once in a process, when it is first asked for, which takes a
 * millisecond or so.
 */
export const protos: Protos = {
  registration: methodsOf<RegistrationDefinition>("pluginregistration.Registration"),
  identity: methodsOf<IdentityDefinition>("csi.v1.Identity"),
  node: methodsOf<NodeDefinition>("csi.v1.Node"),
};

/** The definition's type and the descriptors are made of the same file. */
function methodsOf<Definition extends object>(service: keyof typeof DESCRIPTORS): Definition {
  const methods = {} as Definition;
  for (const [name, descriptor] of Object.entries<object>(DESCRIPTORS[service])) {
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
