import type { Server, ServiceDefinition } from "@grpc/grpc-js";
import { invalidOption } from "../base/errors";
import { nearWord } from "../base/near-word";
import { show } from "../options/option-kinds";
import { createAnswerTypes } from "./descriptors";

/**
 * Makes `addService` throw INVALID_OPTION for handlers that grpc-js would ignore, or call too late to refuse them. Returns what
 * refuses, when all services are added, a handler of none, and what the methods answer.
 */
export function checkServices(server: Server) {
  const added: [service: ServiceDefinition, handlers: object][] = [];
  const answerTypes = createAnswerTypes();
  const addService = server.addService.bind(server);
  server.addService = (service, handlers) => {
    for (const [name, originalName] of methodNames(Object(service))) {
      const handler: unknown = Object(handlers)[name] ?? Object(handlers)[originalName];
      if (handler !== undefined && typeof handler !== "function")
        throw invalidOption(`addService: the handler of ${name} is ${show(handler)}; it takes a function`);
    }
    refuseMistyped(Object(service), Object(handlers));
    added.push([Object(service), Object(handlers)]);
    answerTypes.add(Object(service));
    addService(service, handlers);
  };
  return {
    answerTypeOf: answerTypes.of,
    /** Throws INVALID_OPTION for a handler of no service: one object may have the handlers of several. */
    refuseUnknown: () => {
      const known = added.flatMap(([service]) => methodNames(service).flat());
      for (const [service, handlers] of added) refuseUnknown(handlers, known, methodNames(service).flat());
    },
  };
}

/** Of each method, its name in the contract and the one in camel case. */
const methodNames = (service: ServiceDefinition) =>
  Object.entries(service).map(([name, { originalName = name }]) => [name, originalName] as const);

/** Refuses a plain object's function that has no method. The instance of a class may have functions of its own. */
function refuseUnknown(handlers: object, known: readonly string[], names: readonly string[]): void {
  const prototype = Object.getPrototypeOf(handlers);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return;
  for (const [name, handler] of Object.entries(handlers))
    if (typeof handler === "function" && !known.includes(name))
      throw invalidOption(`addService: there is no method ${name}; the service has ${names.join(", ")}`);
}

/** grpc-js ignores a handler of a method that is not there, and answers the one that was meant with UNIMPLEMENTED. */
function refuseMistyped(service: ServiceDefinition, handlers: object): void {
  const names = methodNames(service);
  const without = names.filter((both) => !both.some((name) => name in handlers)).flat();
  for (const [name, handler] of Object.entries(handlers)) {
    if (handler === undefined || names.some((both) => both.includes(name))) continue;
    const meant = nearWord(name, without);
    if (meant !== undefined)
      throw invalidOption(`addService: there is no method ${name}; did you mean ${meant}?`);
  }
}
