import { invalidOption } from "../errors";
import type { ServiceHost } from "../grpc/acceptor";
import { loadProtos } from "../grpc/protos";
import type { Logger } from "../logging/logger";
import { nearWord } from "../near-word";
import { show } from "../refuse-option";
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
      refuseOther(definition);
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

/** In JavaScript nothing else says that a stub was taken for its service, and each call would be UNIMPLEMENTED. */
function refuseOther(definition: unknown): void {
  if (isDefinition(definition)) return;
  const { service } = Object(definition) as { readonly service?: unknown };
  if (isDefinition(service))
    refuse("addService takes a service, not its client: write .service after it, as in csi.v1.Node.service");
  refuse(
    `addService takes a service's definition with its methods, as csi.v1.Node.service, not ${show(definition)}`,
  );
}

function isDefinition(given: unknown): given is CsiServiceDefinition {
  const methods: unknown[] = typeof given === "object" && given !== null ? Object.values(given) : [];
  return methods.length > 0 && methods.every(isMethod);
}

function isMethod(given: unknown): boolean {
  const { path, requestDeserialize, responseSerialize } = Object(given) as Record<string, unknown>;
  const functions = [requestDeserialize, responseSerialize];
  return typeof path === "string" && functions.every((one) => typeof one === "function");
}

/**
 * Helpers of a class have names of all kinds, so that only a slip is taken for a typo; a plain object is written for
 * this.
 */
const MOST_SLIPS = 2;

/** Refuses a function whose name is near to that of a method which has no handler. */
function refuseTypos(methods: readonly string[], handlers: object): void {
  const spellings = methods.map((method) => [method, lowerFirst(method)]);
  const missing = spellings.filter((names) => !names.some((name) => name in handlers)).flat();
  const most = Object.getPrototypeOf(handlers) === Object.prototype ? undefined : MOST_SLIPS;
  for (const name of functionsOf(handlers)) {
    if (spellings.flat().includes(name)) continue;
    const near = nearWord(name, missing, most);
    if (near !== undefined) refuse(`there is no method ${name}; did you mean ${near}?`);
  }
}

/** The names of an object's functions and of those that it inherits; no getter is called. */
function functionsOf(given: object | null): readonly string[] {
  if (given === null || given === Object.prototype) return [];
  const own = Object.entries(Object.getOwnPropertyDescriptors(given));
  const names = own.filter(([, { value }]) => typeof value === "function").map(([name]) => name);
  return [...names, ...functionsOf(Object.getPrototypeOf(given))];
}

function refuse(why: string): never {
  throw invalidOption(`serveCsiDriver: ${why}`);
}

/** Stubs have `NodePublishVolume`, some drivers' objects `nodePublishVolume`; grpc-js takes both. */
const lowerFirst = (method: string) => method.charAt(0).toLowerCase() + method.slice(1);
