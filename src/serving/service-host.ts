import { invalidOption } from "../errors";
import type { ServiceHost } from "../grpc/acceptor";
import { loadProtos } from "../grpc/protos";
import type { Logger } from "../logging/logger";
import { nearWord } from "../options/near-word";
import { show } from "../options/option-kinds";
import type { CsiServiceDefinition, CsiServiceHost } from "./options";
import { type CsiMethodHandler, unaryMethod } from "./unary-method";

/** Makes what a driver's services are added to, for a gRPC server, as grpc-js' `Server` would: a method has one handler. */
export function createServiceHost(server: ServiceHost, logger: Logger) {
  const log = logger.named("service-host");
  const served = new Set<string>();
  const host: CsiServiceHost = {
    addService: (definition, handlers) => {
      if (typeof handlers !== "object" || handlers === null)
        refuse(`the handlers of a service are ${show(handlers)}, not an object`);
      refuseTypos(Object.keys(definition), handlers);
      const methods = Object.entries(definition).flatMap(
        ([method, { path, requestStream, responseStream }]) => {
          const handler = Reflect.get(handlers, method) ?? Reflect.get(handlers, lowerFirst(method));
          if (handler === undefined) return [];
          if (typeof handler !== "function")
            refuse(`${path} cannot be served: its handler is ${show(handler)}, not a function`);
          if (requestStream || responseStream) refuse(`${path} cannot be served: it is a stream`);
          if (served.has(path)) refuse(`${path} has two handlers`);
          served.add(path);
          const tell = (error: unknown, what: string) => log.error(error, what, { method: path });
          return [[method, unaryMethod(path, handlers, handler as CsiMethodHandler, tell)] as const];
        },
      );
      server.addService(tellingFailures(definition, log), Object.fromEntries(methods));
    },
  };
  return {
    ...host,
    /** Throws INVALID_OPTION where nothing was added that could tell the driver's name. */
    checkIdentity: (): void => {
      if (!served.has(loadProtos().identity.GetPluginInfo.path))
        refuse("addServices adds no GetPluginInfo, which tells the driver's name: add the Identity service");
    },
  };
}

/** The client hears only that a response cannot be encoded; which, and why, is the driver's business. */
function tellingFailures(definition: CsiServiceDefinition, log: Logger): CsiServiceDefinition {
  const methods = Object.entries(definition).map(([name, method]) => {
    const responseSerialize = (response: never) => {
      try {
        return method.responseSerialize(response);
      } catch (error) {
        log.error(error, "A response of the driver cannot be encoded", { method: method.path });
        throw error;
      }
    };
    return [name, { ...method, responseSerialize }] as const;
  });
  return Object.fromEntries(methods);
}

/** An object of a class may have what methods it likes; a plain one is written for this call alone. */
function refuseTypos(methods: readonly string[], handlers: object): void {
  if (Object.getPrototypeOf(handlers) !== Object.prototype) return;
  const known = methods.flatMap((method) => [method, lowerFirst(method)]);
  for (const [name, handler] of Object.entries(handlers)) {
    if (known.includes(name) || typeof handler !== "function") continue;
    const near = nearWord(name, known);
    if (near !== undefined) refuse(`there is no method ${name}; did you mean ${near}?`);
  }
}

function refuse(why: string): never {
  throw invalidOption(`serveCsiDriver: ${why}`);
}

/** Stubs have `NodePublishVolume`, some drivers' objects `nodePublishVolume`; grpc-js takes both. */
const lowerFirst = (method: string) => method.charAt(0).toLowerCase() + method.slice(1);
