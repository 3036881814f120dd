import { fromJSON, type MethodDefinition } from "@grpc/proto-loader";
import {
  DESCRIPTORS,
  type IdentityDefinition,
  type NodeDefinition,
  type RegistrationDefinition,
} from "./contracts";

export type {
  GetPluginInfoResponse,
  NodeGetInfoResponse,
  PluginInfo,
  ProbeResponse,
  RegistrationStatus,
} from "./contracts";

/** As scripts/contracts.mjs writes the types. */
const AS_TYPED = { defaults: true, longs: Number, enums: String };

export type Unary<Request, Response> = Pick<
  MethodDefinition<Request, object, object, Response>,
  "path" | "requestSerialize" | "responseDeserialize"
>;

/** The wire contracts as typed methods. Each is made once in a process, when it is first used, which takes a millisecond or so. */
export const protos = {
  /** Kubelet's plugin registration API, `proto/pluginregistration.proto`. */
  registration: methodsOf<RegistrationDefinition>("pluginregistration.Registration"),
  /** The parts of CSI that registration and the doctor touch, `proto/csi.proto`. */
  identity: methodsOf<IdentityDefinition>("csi.v1.Identity"),
  node: methodsOf<NodeDefinition>("csi.v1.Node"),
};

/** The definition's type and the descriptors are made of the same file. */
function methodsOf<Definition extends object>(service: keyof typeof DESCRIPTORS): Readonly<Definition> {
  const methods = {} as Definition;
  for (const [name, descriptor] of Object.entries<object>(DESCRIPTORS[service])) {
    let method: unknown;
    const get = () => {
      method ??= fromJSON(descriptor, AS_TYPED)[service]?.[name as never];
      return method;
    };
    Object.defineProperty(methods, name, { enumerable: true, get });
  }
  return methods;
}
